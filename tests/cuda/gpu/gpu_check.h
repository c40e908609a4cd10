// What gpu_check's parts share: where results go, and how much to do.
#pragma once

#include <cstdint>
#include <string>

namespace tokpack::test {

/// Lines of JSON for the "checks" and "times" of the report.
class Report {
 public:
  void check(const std::string& name, std::int64_t cases, const std::string& fault);  ///< "" = passed
  void not_run(const std::string& name, const std::string& why);
  /// `fields` is the inside of a JSON object.
  void time(const std::string& fields);

  std::string json(const std::string& head) const;
  int failed() const { return failed_; }

 private:
  std::string checks_, times_;
  int failed_ = 0;
};

std::string quoted_json(const std::string& text);

void check_capture_as_first_use(Report& report);
void check_intervals(Report& report, bool quick);
void check_masks(Report& report, bool quick);
void check_mask_offsets(Report& report);
void check_block_lists(Report& report, bool quick);
void check_graphs(Report& report);
void check_second_device(Report& report);
void check_errors(Report& report);
void measure(Report& report);

}  // namespace tokpack::test
