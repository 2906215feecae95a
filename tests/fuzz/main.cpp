// SPDX-License-Identifier: BSD-3-Clause
// A target of the folder fuzz without a fuzzer: all inputs of the folders, then broken ones for so many seconds, half
// of them the same each time. The input under way is kept in `last`, in case that it is the last. usage:
// fuzz_short_NAME SECONDS SEED LAST FOLDER…
#include "fuzz.h"
#include "support/corrupt.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;
using pteron::test::File;
using Clock = std::chrono::steady_clock;

File read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  File out(fs::file_size(path));
  in.read(reinterpret_cast<char*>(out.data()), std::streamsize(out.size()));
  return out;
}

class Run {
 public:
  Run(const char* last, std::vector<File> inputs) : last_(last), inputs_(std::move(inputs)) {}

  void replay() {
    for (const File& input : inputs_) use(input);
  }
  // One that is broken, or two that are cut and put together before that.
  void mutate(pteron::u32 seed, Clock::time_point end) {
    std::mt19937 random(seed);
    const auto any = [&]() -> const File& { return inputs_[random() % inputs_.size()]; };
    while (Clock::now() < end) {
      File input = any();
      if (const File& other = any(); random() % 4 == 0 && !input.empty() && !other.empty()) {
        input.resize(random() % input.size());
        input.insert(input.end(), other.begin() + std::ptrdiff_t(random() % other.size()), other.end());
      }
      if (!input.empty())
        pteron::test::for_each_corruption(input, 1, pteron::u32(random()), [&](const File& f) { use(f); });
    }
  }
  size_t count() const { return count_; }

 private:
  void use(const File& input) {
    std::ofstream(last_, std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()), std::streamsize(input.size()));
    ++count_;
    pteron::fuzz::target(input);
  }

  const char* last_;
  std::vector<File> inputs_;
  size_t count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const auto time = std::chrono::duration<double>(std::stod(argv[1]));
  std::vector<File> inputs;
  for (int i = 4; i < argc; ++i) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(argv[i])) paths.push_back(entry.path());
    std::ranges::sort(paths);
    std::ranges::transform(paths, std::back_inserter(inputs), read);
  }
  Run run(argv[3], std::move(inputs));
  run.replay();
  const auto start = Clock::now(), end = start + std::chrono::duration_cast<Clock::duration>(time);
  run.mutate(1, start + (end - start) / 2);
  run.mutate(pteron::u32(std::stoul(argv[2])), end);
  std::printf("%zu\n", run.count());
}
