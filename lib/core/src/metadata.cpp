#include "tokpack/core/metadata.h"

#include <new>
#include <nlohmann/json.hpp>
#include <set>

#include "reader_text.h"
#include "tokpack/format/layout.h"

namespace tokpack {
namespace {

using Json = nlohmann::json;  // objects are sorted by key

constexpr std::size_t kDeepest = 16;
constexpr std::uint64_t kWindowOfAll = ~std::uint64_t{0};

// Bytes that are no UTF-8 (a file name may be any bytes) become U+FFFD, so that every text has a JSON form.
std::string canonical(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Error wrong(std::string detail, std::uint64_t offset = Error::kNoOffset) {
  return {Errc::kMetadata, offset, "metadata: " + std::move(detail)};
}

// Builds the value and stops at what canonical JSON has not: floats, duplicate keys, too many levels.
class StrictBuilder : public nlohmann::json_sax<Json> {
 public:
  Json root;
  std::string problem;
  std::size_t problem_at = 0;

  bool null() override {
    return fail("null is not possible; only integers, strings, arrays and objects are");
  }
  bool boolean(bool) override { return fail("true and false are not possible; use 0 and 1"); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t, const string_t&) override { return fail("a number that is no integer"); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return fail("binary data"); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    Json& object = *levels_.back();
    if (object.contains(name)) return fail("a key stands twice in one object");
    key_ = name;
    return true;
  }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    problem_at = at == 0 ? 0 : at - 1;
    return fail("no JSON");
  }

 private:
  bool fail(const char* what) {
    if (problem.empty()) problem = what;
    return false;
  }
  template <typename Value>
  Json* place(Value&& value) {
    if (++values_ > format::kMaxMetadataValues) return nullptr;
    if (levels_.empty()) {
      root = std::forward<Value>(value);
      return &root;
    }
    Json& parent = *levels_.back();
    if (parent.is_array()) {
      parent.push_back(std::forward<Value>(value));
      return &parent.back();
    }
    return &(parent[key_] = std::forward<Value>(value));
  }
  template <typename Value>
  bool put(Value&& value) {
    return place(std::forward<Value>(value)) != nullptr || fail(kTooMany);
  }
  bool open(Json value) {
    if (levels_.size() == kDeepest) return fail("more than 16 levels of arrays and objects");
    Json* placed = place(std::move(value));
    if (placed == nullptr) return fail(kTooMany);
    levels_.push_back(placed);
    return true;
  }
  bool close() {
    levels_.pop_back();
    return true;
  }

  // Each takes many times its text in memory, so the limit on bytes alone is not enough.
  static constexpr const char* kTooMany = "more than 262144 values";
  static_assert(format::kMaxMetadataValues == 262144);

  std::uint64_t values_ = 0;
  std::vector<Json*> levels_;
  std::string key_;
};

// Reads known fields, keeping the first thing that is of another type.
class Fields {
 public:
  explicit Fields(std::string where) : where_(std::move(where)) {}
  std::optional<Error> error;

  const Json* find(const Json& object, const char* name) const {
    const auto it = object.find(name);
    return it == object.end() ? nullptr : &*it;
  }
  template <typename T>
  void integer(const Json& object, const char* name, T& out) {
    const Json* value = find(object, name);
    if (value == nullptr) return;
    if (!in_range<T>(*value)) {
      refuse(name, std::is_signed_v<T> ? "an integer" : "an integer of 0 or more, in range");
    } else {
      out = value->get<T>();
    }
  }
  template <typename T>
  void integer(const Json& object, const char* name, std::optional<T>& out) {
    if (find(object, name) == nullptr) return;
    integer(object, name, out.emplace());
  }
  void text(const Json& object, const char* name, std::string& out) {
    const Json* value = find(object, name);
    if (value == nullptr) return;
    if (!value->is_string()) return refuse(name, "a string");
    out = value->get<std::string>();
  }
  const Json* array(const Json& object, const char* name) { return container(object, name, true); }
  const Json* object(const Json& object, const char* name) { return container(object, name, false); }
  void refuse(const char* name, const char* expected) {
    if (!error) error = wrong("field " + where_ + name + " is not " + expected);
  }

 private:
  template <typename T>
  static bool in_range(const Json& value) {
    if (value.is_number_unsigned()) {
      return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    }
    return std::is_signed_v<T> && value.is_number_integer();
  }
  const Json* container(const Json& object, const char* name, bool array) {
    const Json* value = find(object, name);
    if (value == nullptr) return nullptr;
    if (array ? value->is_array() : value->is_object()) return value;
    refuse(name, array ? "an array" : "an object");
    return nullptr;
  }
  std::string where_;
};

std::optional<Error> read_fields(const Json& json, Metadata& out) {
  Fields fields("");
  fields.integer(json, "bos_id", out.bos_id);
  fields.integer(json, "eos_id", out.eos_id);
  fields.text(json, "overlong", out.overlong);
  fields.text(json, "strategy", out.strategy);
  fields.text(json, "tail", out.tail);
  fields.text(json, "tool", out.tool);
  fields.integer(json, "planner_version", out.planner_version);
  if (const Json* account = fields.object(json, "account")) {
    Fields inner("account.");
    Account& read = out.account.emplace();
    for (const AccountField& field : kAccountFields) {
      inner.integer(*account, std::string(field.name).c_str(), read.*field.member);
    }
    if (inner.error) return inner.error;
  }
  if (const Json* inputs = fields.array(json, "inputs")) {
    Fields inner("inputs: ");
    for (const Json& input : *inputs) {
      if (!input.is_object()) return wrong("field inputs holds something that is not an object");
      MetadataInput& one = out.inputs.emplace_back();
      inner.text(input, "name", one.name);
      inner.integer(input, "first_sample", one.first_sample);
      inner.integer(input, "samples", one.samples);
    }
    if (inner.error) return inner.error;
  }
  if (const Json* roles = fields.array(json, "roles")) {
    for (const Json& role : *roles) {
      if (!role.is_string()) return wrong("field roles holds something that is not a string");
      out.roles.push_back(role.get<std::string>());
    }
  }
  if (const Json* tokenizer = fields.object(json, "tokenizer")) {
    Fields inner("tokenizer.");
    inner.text(*tokenizer, "name", out.tokenizer_name);
    inner.text(*tokenizer, "sha256", out.tokenizer_sha256);
    if (inner.error) return inner.error;
  }
  if (const Json* user = fields.object(json, "user")) {
    for (const auto& item : user->items()) {
      if (!item.value().is_string()) return wrong("field user holds something that is not a string");
      out.user.emplace(item.key(), item.value().get<std::string>());
    }
  }
  const Json* window = fields.find(json, "window");
  if (window != nullptr && *window == "all") {
    out.window = kWindowOfAll;
  } else {
    fields.integer(json, "window", out.window);
  }
  return fields.error;
}

}  // namespace

std::string to_json(const Metadata& metadata) {
  Json json = Json::object();
  if (metadata.account) {
    Json& account = json["account"];
    for (const AccountField& field : kAccountFields) {
      account[std::string(field.name)] = (*metadata.account).*field.member;
    }
  }
  if (metadata.bos_id) json["bos_id"] = *metadata.bos_id;
  if (metadata.eos_id) json["eos_id"] = *metadata.eos_id;
  json["inputs"] = Json::array();
  for (const MetadataInput& input : metadata.inputs) {
    json["inputs"].push_back(
        {{"name", input.name}, {"first_sample", input.first_sample}, {"samples", input.samples}});
  }
  json["overlong"] = metadata.overlong;
  json["planner_version"] = metadata.planner_version;
  if (!metadata.roles.empty()) json["roles"] = metadata.roles;
  json["strategy"] = metadata.strategy;
  json["tail"] = metadata.tail;
  if (!metadata.tokenizer_name.empty()) json["tokenizer"]["name"] = metadata.tokenizer_name;
  if (!metadata.tokenizer_sha256.empty()) json["tokenizer"]["sha256"] = metadata.tokenizer_sha256;
  json["tool"] = metadata.tool;
  if (!metadata.user.empty()) json["user"] = metadata.user;
  if (metadata.window == kWindowOfAll) {
    json["window"] = "all";
  } else if (metadata.window) {
    json["window"] = *metadata.window;
  }
  return canonical(json);
}

Result<Metadata> parse_metadata(std::string_view text) {
  if (text.size() > format::kMaxMetadataBytes) {
    return wrong(std::to_string(text.size()) + " bytes are more than the " +
                 std::to_string(format::kMaxMetadataBytes) + " that are possible");
  }
  try {
    StrictBuilder builder;
    if (!Json::sax_parse(text.begin(), text.end(), &builder))
      return wrong(builder.problem, builder.problem_at);
    if (!builder.root.is_object()) return wrong("expected one object", 0);
    const std::string form = canonical(builder.root);
    if (form != text) {
      std::size_t at = 0;
      while (at < form.size() && at < text.size() && form[at] == text[at]) ++at;
      return wrong("not the canonical form (sorted keys, no spaces, shortest escapes)", at);
    }
    Metadata out;
    if (auto error = read_fields(builder.root, out)) return *error;
    return out;
  } catch (const std::bad_alloc&) {
    return detail::out_of_memory("for the metadata");
  } catch (const Json::exception&) {
    return wrong("no JSON");
  }
}

}  // namespace tokpack
