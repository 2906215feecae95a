// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "llm/jinja/functions.h"

#include <chrono>

namespace pteron::jinja {
namespace {

constexpr std::string_view months[] = {"January", "February", "March",     "April",   "May",      "June",
                                       "July",    "August",   "September", "October", "November", "December"};
constexpr std::string_view days[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

std::string padded(i64 number, size_t width, char fill = '0') {
  std::string digits = std::to_string(number);
  return digits.size() < width ? std::string(width - digits.size(), fill) + digits : digits;
}

}  // namespace

Result<std::string> format_time(i64 seconds, std::string_view format) {
  using namespace std::chrono;
  constexpr i64 last = 253'402'300'799;  // of the year 9999
  if (seconds < 0 || seconds > last) return invalid("the time ", seconds, " is not between the years 1970 and 9999");
  const sys_seconds time{std::chrono::seconds(seconds)};
  const sys_days date = floor<std::chrono::days>(time);
  const year_month_day ymd(date);
  const hh_mm_ss clock(time - date);
  const i64 year = int(ymd.year()), hour = clock.hours().count(), hour12 = hour % 12 == 0 ? 12 : hour % 12;
  const unsigned month = unsigned(ymd.month()), day = unsigned(ymd.day()), week_day = weekday(date).c_encoding();
  const i64 day_of_year = (date - sys_days(ymd.year() / January / 1)).count() + 1;

  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    const bool bare = i + 1 < format.size() && format[i + 1] == '-';  // %-d: without a leading zero
    i += bare ? 2 : 1;
    const auto number = [&](i64 n, size_t width) { return padded(n, bare ? 1 : width); };
    switch (i < format.size() ? format[i] : '\0') {
      case 'Y': out += number(year, 4); break;
      case 'y': out += number(year % 100, 2); break;
      case 'm': out += number(month, 2); break;
      case 'd': out += number(day, 2); break;
      case 'e': out += bare ? padded(day, 1) : padded(day, 2, ' '); break;
      case 'j': out += number(day_of_year, 3); break;
      case 'H': out += number(hour, 2); break;
      case 'I': out += number(hour12, 2); break;
      case 'M': out += number(clock.minutes().count(), 2); break;
      case 'S': out += number(clock.seconds().count(), 2); break;
      case 'p': out += hour < 12 ? "AM" : "PM"; break;
      case 'B': out += months[month - 1]; break;
      case 'b': out += months[month - 1].substr(0, 3); break;
      case 'A': out += days[week_day]; break;
      case 'a': out += days[week_day].substr(0, 3); break;
      case 'F': out += padded(year, 4) + '-' + padded(month, 2) + '-' + padded(day, 2); break;
      case '%': out += '%'; break;
      default:
        return unsupported("the time format '", format.substr(0, 100), "' has a directive that is not supported");
    }
  }
  return out;
}

}  // namespace pteron::jinja
