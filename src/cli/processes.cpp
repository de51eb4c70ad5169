#include "processes.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <hornbill/error.hpp>

#ifdef __linux__
#include <sched.h>
#endif
#ifdef HORNBILL_HAS_MPI
#include <mpi.h>
#endif

namespace hornbill::cli {
namespace {

/// As many as mpirun says that there are: to ask MPI itself would take a third of a second also where there is one.
int num_started() {
  for (char const* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (char const* const text = std::getenv(name)) return std::atoi(text);
  return 1;
}

#ifdef HORNBILL_HAS_MPI
bool has_failed = false;

bool has_joined() {
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  return is_initialized != 0;
}

/// MPI's own handler of errors ends all processes, so that what calls return need not be looked at.
class MpiMessenger : public elim::Messenger {
 public:
  MpiMessenger() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks_);
    int const* most = nullptr;
    int is_known = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &is_known);
    if (is_known) largest_tag_ = *most;
  }
  ~MpiMessenger() override {
    if (!has_failed)
      for (auto& sent : sent_) MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
  }
  int rank() const override { return rank_; }
  int num_ranks() const override { return num_ranks_; }

  void send(int rank, Index tag, std::vector<std::int64_t> message) override {
    if (message.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw CapacityError("a message between processes has more numbers than MPI can count, " +
                          std::to_string(message.size()));
    if (tag > largest_tag_)
      throw CapacityError("this MPI can tell apart messages of " + std::to_string(largest_tag_) + " agents only");
    sent_.remove_if([](Sent& sent) {
      int has_arrived = 0;
      MPI_Test(&sent.request, &has_arrived, MPI_STATUS_IGNORE);
      return has_arrived != 0;
    });
    auto& sent = sent_.emplace_back(Sent{std::move(message), MPI_REQUEST_NULL});
    MPI_Isend(sent.message.data(), static_cast<int>(sent.message.size()), MPI_INT64_T, rank, tag, MPI_COMM_WORLD,
              &sent.request);
  }
  std::vector<std::int64_t> receive(int rank, Index tag) override {
    MPI_Status status;
    MPI_Probe(rank, tag, MPI_COMM_WORLD, &status);
    int count = 0;
    MPI_Get_count(&status, MPI_INT64_T, &count);
    std::vector<std::int64_t> message(static_cast<std::size_t>(count));
    MPI_Recv(message.data(), count, MPI_INT64_T, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return message;
  }

 private:
  struct Sent {
    std::vector<std::int64_t> message;
    MPI_Request request;
  };
  int rank_ = 0, num_ranks_ = 1, largest_tag_ = 32767;
  std::list<Sent> sent_;  // under way
};
#endif

}  // namespace

int threads_of_process() {
  char const* const neighbours = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (neighbours == nullptr || std::getenv("OMP_NUM_THREADS") != nullptr) return 0;
  int const processors = static_cast<int>(std::thread::hardware_concurrency());
#ifdef __linux__
  cpu_set_t bound;  // by mpirun, to some of them
  if (sched_getaffinity(0, sizeof bound, &bound) == 0 && CPU_COUNT(&bound) < processors) return CPU_COUNT(&bound);
#endif
  return std::max(1, processors / std::max(1, std::atoi(neighbours)));
}

std::unique_ptr<elim::Messenger> join_processes() {
  if (num_started() <= 1) return std::make_unique<elim::OneProcess>();
#ifdef HORNBILL_HAS_MPI
  return std::make_unique<MpiMessenger>();
#else
  throw InputError(
      "mpirun started " + std::to_string(num_started()) +
      " processes, and this build has no MPI; configure it with -DHORNBILL_ENABLE_MPI=ON, or start one process");
#endif
}

void fail_processes() {
#ifdef HORNBILL_HAS_MPI
  if (!has_joined()) return;
  has_failed = true;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // Mostly all fail alike, as all read the same file: then the first says so and ends the others before they say it
  // again.
  if (rank != 0) std::this_thread::sleep_for(std::chrono::seconds(1));
#endif
}

int leave_processes(int exit_code) {
#ifdef HORNBILL_HAS_MPI
  if (!has_joined()) return exit_code;
  if (has_failed) MPI_Abort(MPI_COMM_WORLD, exit_code);
  MPI_Finalize();
#endif
  return exit_code;
}

}  // namespace hornbill::cli
