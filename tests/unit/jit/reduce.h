// Makes a program that shows a difference small.
#pragma once
#include <functional>
#include <string>

#include "runner.h"

namespace limen::test {

/// How something else than the evaluator runs a job.
using Runner = std::function<Outcome(const Job&)>;

/// What kind of difference `other` shows: empty when it agrees or the program is not defined (the
/// evaluator is strict), "values differ", or the beginning of its error.
std::string difference_kind(Job job, const Runner& other);

/// Takes lines out of the job's text as long as the kind of difference stays the same.
std::string smallest(Job job, const Runner& other);

}  // namespace limen::test
