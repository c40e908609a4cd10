// Declared columns: types, widths, scopes, ragged ones, and values that do not fit.

#include "input_support.h"

namespace tokpack::input::test {
namespace {

ColumnSpec column(const char* name, ElementType type, std::uint16_t width = 1, Scope scope = Scope::kSequence,
                  bool ragged = false) {
  return {name, type, width, scope, ragged};
}

Everything read_column(const std::string& value, const ColumnSpec& spec) {
  return read_text("{\"tokens\":[1,2,3],\"c\":" + value + "}\n", {.columns = {spec}});
}

TEST_CASE("a column of scope sequence is one row a record") {
  const Everything read =
      read_text("{\"tokens\":[1,2],\"c\":7,\"d\":[1,-2]}\n{\"tokens\":[],\"d\":[3,4],\"c\":8}\n",
                {.columns = {column("c", ElementType::kU16), column("d", ElementType::kI32, 2)}});
  CHECK_FALSE(read.error);
  CHECK(values_of<std::uint16_t>(read.all.columns[0]) == std::vector<std::uint16_t>{7, 8});
  CHECK(values_of<std::int32_t>(read.all.columns[1]) == Ints{1, -2, 3, 4});
}

TEST_CASE("a column of scope token is one row a token") {
  const Everything read = read_text(
      "{\"tokens\":[1,2],\"c\":[7,8],\"d\":[[1,2],[3,4]]}\n{\"tokens\":[],\"c\":[],\"d\":[]}\n"
      "{\"tokens\":[1],\"c\":[9],\"d\":[[5,6]]}",
      {.columns = {column("c", ElementType::kU8, 1, Scope::kToken),
                   column("d", ElementType::kU16, 2, Scope::kToken)}});
  CHECK_FALSE(read.error);
  CHECK(values_of<std::uint8_t>(read.all.columns[0]) == Bits{7, 8, 9});
  CHECK(values_of<std::uint16_t>(read.all.columns[1]) == std::vector<std::uint16_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("ragged columns keep offsets in rows, each batch from 0") {
  const std::string text =
      "{\"tokens\":[1],\"c\":[1,2,3],\"d\":[[1,2]],\"s\":\"ab\"}\n{\"tokens\":[1],\"c\":[],\"d\":[],\"s\":"
      "\"\"}\n"
      "{\"tokens\":[1],\"c\":[4],\"d\":[[3,4],[5,6]],\"s\":\"c\\u0000\"}\n";
  for (const std::uint64_t batch_bytes : Sizes{64, 1 << 20}) {
    const Everything read =
        read_text(text, {.columns = {column("c", ElementType::kU32, 1, Scope::kSequence, true),
                                     column("d", ElementType::kI64, 2, Scope::kSequence, true),
                                     column("s", ElementType::kBytes, 1, Scope::kSequence, true)},
                         .batch_bytes = batch_bytes});
    CHECK_FALSE(read.error);
    CHECK(values_of<std::uint32_t>(read.all.columns[0]) == Ids{1, 2, 3, 4});
    CHECK(read.all.columns[0].offsets == std::vector<std::uint64_t>{0, 3, 3, 4});
    CHECK(values_of<std::int64_t>(read.all.columns[1]) == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
    CHECK(read.all.columns[1].offsets == std::vector<std::uint64_t>{0, 1, 1, 3});
    CHECK(values_of<char>(read.all.columns[2]) == std::vector<char>{'a', 'b', 'c', '\0'});
    CHECK(read.all.columns[2].offsets == std::vector<std::uint64_t>{0, 2, 2, 4});
  }
}

TEST_CASE("integers reach the ends of their types and not beyond") {
  const auto fits = [](ElementType type, const std::string& value) {
    return !read_column(value, column("c", type)).error;
  };
  CHECK(fits(ElementType::kU8, "255"));
  CHECK_FALSE(fits(ElementType::kU8, "256"));
  CHECK_FALSE(fits(ElementType::kU8, "-1"));
  CHECK(fits(ElementType::kU16, "65535"));
  CHECK_FALSE(fits(ElementType::kU16, "65536"));
  CHECK(fits(ElementType::kU32, "4294967295"));
  CHECK_FALSE(fits(ElementType::kU32, "4294967296"));
  CHECK(fits(ElementType::kU64, "18446744073709551615"));
  CHECK_FALSE(fits(ElementType::kU64, "-1"));
  CHECK(fits(ElementType::kI32, "-2147483648"));
  CHECK_FALSE(fits(ElementType::kI32, "2147483648"));
  CHECK(fits(ElementType::kI64, "-9223372036854775808"));
  CHECK_FALSE(fits(ElementType::kI64, "9223372036854775808"));
  CHECK_FALSE(fits(ElementType::kI32, "1.0"));
  CHECK_FALSE(fits(ElementType::kU32, "\"1\""));
  CHECK(values_of<std::uint64_t>(
            read_column("18446744073709551615", column("c", ElementType::kU64)).all.columns[0]) ==
        std::vector<std::uint64_t>{~0ULL});
}

TEST_CASE("16-bit floats are rounded to nearest even, in one step") {
  const auto bits = [](ElementType type, const std::string& value) -> int {
    const Everything read = read_column(value, column("c", type));
    if (read.error) return -1;
    return values_of<std::uint16_t>(read.all.columns[0]).at(0);
  };
  // IEEE binary16: 1 = 0x3c00, spacing 2^-10 there; largest 65504; least subnormal 2^-24.
  CHECK(bits(ElementType::kF16, "1") == 0x3c00);
  CHECK(bits(ElementType::kF16, "-2.5") == 0xc100);
  CHECK(bits(ElementType::kF16, "1.00048828125") == 0x3c00);      // a tie goes to the even neighbour below
  CHECK(bits(ElementType::kF16, "1.00146484375") == 0x3c02);      // and above
  CHECK(bits(ElementType::kF16, "1.000488281250001") == 0x3c01);  // a float in between would make it a tie
  CHECK(bits(ElementType::kF16, "65504") == 0x7bff);
  CHECK(bits(ElementType::kF16, "65519.99") == 0x7bff);
  CHECK(bits(ElementType::kF16, "65520") == -1);
  CHECK(bits(ElementType::kF16, "5.960464477539063e-08") == 0x0001);
  CHECK(bits(ElementType::kF16, "2.9e-08") == 0x0000);
  CHECK(bits(ElementType::kF16, "6.1035156e-05") == 0x0400);  // the least normal number
  CHECK(bits(ElementType::kF16, "-0.0") == 0x8000);
  CHECK(bits(ElementType::kF16, "0.99999") == 0x3c00);  // carries into the next exponent
  // bfloat16: the upper half of a float.
  CHECK(bits(ElementType::kBF16, "1") == 0x3f80);
  CHECK(bits(ElementType::kBF16, "1.00390625") == 0x3f80);
  CHECK(bits(ElementType::kBF16, "1.01171875") == 0x3f82);
  CHECK(bits(ElementType::kBF16, "3.3895313892515355e38") == 0x7f7f);
  CHECK(bits(ElementType::kBF16, "3.4e38") == -1);
  CHECK(bits(ElementType::kBF16, "1e-40") == 0x0001);
}

TEST_CASE("f32 takes what it can hold") {
  CHECK(values_of<float>(read_column("0.1", column("c", ElementType::kF32)).all.columns[0]) ==
        std::vector<float>{0.1F});
  CHECK(error_of(read_column("1e39", column("c", ElementType::kF32))) ==
        "json_field: in.jsonl:1: field \"c\": expected a number that f32 can hold, found 1e39");
}

TEST_CASE("bytes are strings of exactly the width") {
  const ColumnSpec spec = column("c", ElementType::kBytes, 4);
  CHECK(values_of<char>(read_column("\"ab\\u00e9\"", spec).all.columns[0]) ==
        std::vector<char>{'a', 'b', '\xc3', '\xa9'});
  CHECK(error_of(read_column("\"abc\"", spec)) ==
        "json_field: in.jsonl:1: field \"c\": expected a string of 4 bytes, found \"abc\"");
  CHECK(values_of<char>(
            read_column("[\"ab\",\"cd\",\"ef\"]", column("c", ElementType::kBytes, 2, Scope::kToken))
                .all.columns[0]) == std::vector<char>{'a', 'b', 'c', 'd', 'e', 'f'});
}

TEST_CASE("wrong shapes are named with the place") {
  CHECK(
      error_of(read_column("[1,2]", column("c", ElementType::kU8, 1, Scope::kToken)))
          .starts_with("json_field: in.jsonl:1: field \"c\": expected 3 entries, one a token, but it has 2"));
  CHECK(error_of(read_column("[1,2,3]", column("c", ElementType::kU8, 2))) ==
        "json_field: in.jsonl:1: field \"c\": expected a list of 2 numbers, found [1,2,3]");
  CHECK(error_of(read_column("[[1,2],[3,4],[5,-6]]", column("c", ElementType::kU8, 2, Scope::kToken))) ==
        "json_field: in.jsonl:1: field \"c\", position 2, inner position 1: expected an integer from 0 to "
        "255, found -6");
  CHECK(error_of(read_column("[1,\"x\"]", column("c", ElementType::kU8, 1, Scope::kSequence, true))) ==
        "json_field: in.jsonl:1: field \"c\", position 1: expected an integer from 0 to 255, found \"x\"");
  CHECK(error_of(read_text("{\"tokens\":[1]}", {.columns = {column("c", ElementType::kU8)}})) ==
        "json_field: in.jsonl:1: field \"c\" is missing; it is declared as a column, so every record must "
        "have it");
}

TEST_CASE("a record that fails in its last column leaves nothing of itself") {
  const Everything read = read_text(
      "{\"tokens\":[1],\"group\":1,\"labels\":[1],\"t\":[1],\"r\":[1,2],\"z\":1}\n"
      "{\"tokens\":[2,3],\"group\":2,\"labels\":[2,3],\"t\":[2,3],\"r\":[3],\"z\":-1}\n",
      {.columns = {column("t", ElementType::kU16, 1, Scope::kToken),
                   column("r", ElementType::kU16, 1, Scope::kSequence, true),
                   column("z", ElementType::kU16)}});
  CHECK(error_of(read).starts_with("json_field: in.jsonl:2: field \"z\": "));
  CHECK(read.all.tokens == Ids{1});
  CHECK(read.all.lengths == Ids{1});
  CHECK(read.all.labels == Ints{1});
  CHECK(read.all.groups == std::vector<std::uint64_t>{1});
  CHECK(values_of<std::uint16_t>(read.all.columns[0]) == std::vector<std::uint16_t>{1});
  CHECK(values_of<std::uint16_t>(read.all.columns[1]) == std::vector<std::uint16_t>{1, 2});
  CHECK(read.all.columns[1].offsets == std::vector<std::uint64_t>{0, 2});
  CHECK(values_of<std::uint16_t>(read.all.columns[2]) == std::vector<std::uint16_t>{1});
}

TEST_CASE("declared columns come first, then role and weight that the first record brought") {
  const Everything read =
      read_text("{\"tokens\":[1],\"weight\":1,\"role\":\"a\",\"domain\":3}",
                {.columns = {column("weight", ElementType::kF32), column("domain", ElementType::kU32)}});
  CHECK_FALSE(read.error);
  REQUIRE(read.columns.size() == 3);
  CHECK(read.columns[0].name == "weight");
  CHECK(read.columns[1].name == "domain");
  CHECK(read.columns[2].name == "role");
}

}  // namespace
}  // namespace tokpack::input::test
