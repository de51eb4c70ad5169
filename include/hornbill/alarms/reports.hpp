/// \file
/// What other analysers report, from their files.
#pragma once

#include <string>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::alarms {

/// A place of a program's source that another analyser warns of.
struct Report {
  std::string file;
  Index line = 0, column = 0;  ///< from 1; column 0 where it is not known
  std::string rule, message;   ///< of the analyser, or empty

  /// `file.c:12:3 message (rule)`, as far as they are known.
  std::string text() const;
};

struct Reports {
  std::vector<Report> reports;
  Index without_place = 0;  ///< results that name no line of a file
};

/// Reads SARIF 2.1 (.sarif, .json), or lines `file:line`, `file:line:column`, either with `: message` behind it, as
/// compilers print them. Blank lines and those that begin with # are skipped.
/// \throws InputError naming the file and the line or the result, for what is not of that form, and where results are
/// there and none has a place
Reports read_reports(std::string const& file);

/// Whether two names may be of one file: one is the end of the other, folders taken whole.
bool may_be_same_file(std::string const& a, std::string const& b);

}  // namespace hornbill::alarms
