#include "option_words.h"

#include <array>
#include <string_view>

namespace tokpack::tools {

namespace {

struct Words {
  std::string_view library, command;
};

// The tests of the command show each: a message of the library that changes does not go unnoticed.
constexpr std::array kWords = {
    Words{"raise the capacity, or choose split, truncate, truncate-left or drop",
          "raise --capacity, or choose --overlong split, truncate, truncate-left or drop"},
    Words{"raise the capacity, or drop such groups",
          "raise --capacity, or leave such groups out with --overlong drop, each as a whole"},
    Words{"Choose error or drop",
          "Choose --overlong error or drop, which leaves out the whole group, or read no groups "
          "(--group-field '')"},
    Words{"(missing_labels = train)", "(--missing-labels train)"},
    Words{"let missing ones be trained in full",
          "let missing ones be trained in full (--missing-labels train)"},
    Words{"it was named, so every record must have it",
          "it was named, so every record must have it; --missing-labels train trains on all tokens of those "
          "without"},
    Words{"give the id that ends documents, or a list of lengths",
          "give the id that ends documents (--document-end ID), or a list of lengths (--lengths PATH)"},
    Words{"give it to all or ignore it", "give it to all, or let none have it (--ignore-field NAME)"},
    Words{"a .npy array; read it as a raw token array",
          "a .npy array; a raw array is read from a regular file whose name ends in .npy or .bin, or that is "
          "a .npy"},
    Words{"ravel it and give the lengths", "ravel it and give --lengths PATH"},
    Words{"or are they u32?", "or are they u32 (--array-type u32)?"},
    Words{"or are they i64?", "or are they i64 (--array-type i64)?"},
};

}  // namespace

std::string with_option_names(std::string text) {
  for (const Words& words : kWords) {
    if (const std::size_t at = text.find(words.library); at != std::string::npos)
      text.replace(at, words.library.size(), words.command);
  }
  return text;
}

std::string remedy(input::Note::Kind kind) {
  switch (kind) {
    case input::Note::Kind::kUnendedDocument:
    case input::Note::Kind::kWiderNumbers:
      return "";
    case input::Note::Kind::kMaskedAttention:
      return ". Take the padding off before packing; --mask-field attention_mask at least does not train on "
             "it";
  }
  return "";
}

}  // namespace tokpack::tools
