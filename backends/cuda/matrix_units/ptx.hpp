// Instructions of NVIDIA GPUs that C++ has no names for.   \source PTX ISA, from version 8.0 on
#pragma once

#include <cstdint>

namespace hornbill::cuda {

__device__ inline unsigned shared_address(void const* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// --- Matrices of 8 by 8 halves, from shared memory, and products of 16 by 8 by 16 ------------------------------------

/// Four matrices; lane i has the address of row i % 8 of matrix i / 8.
__device__ inline void load_matrices(unsigned (&to)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}
__device__ inline void load_transposed(unsigned (&to)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}

/// sums += a * b.
__device__ inline void multiply_add(float (&sums)[4], unsigned const (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// --- Copies to shared memory that threads do not wait for ------------------------------------------------------------

__device__ inline void copy_16(unsigned to, void const* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int most_pending>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(most_pending) : "memory");
}

#ifdef HORNBILL_WGMMA

// --- Barriers in shared memory, which also count bytes ---------------------------------------------------------------

__device__ inline void set_up_barrier(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/// Makes barriers that were set up known to copies.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
}
__device__ inline void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void expect_bytes(unsigned barrier, int bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ inline void wait(unsigned barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ inline void copy_bytes(unsigned to, void const* from, int bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}

// --- Registers that four warps leave to others -----------------------------------------------------------------------

/// \param registers  that each thread of four warps keeps, or has from then on: a multiple of 8
template <int registers>
__device__ void leave_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

// --- Products of 64 by N by 16 by four warps, from shared memory -----------------------------------------------------

/// Where a matrix of halves lies whose rows are 128 bytes long, eights of them in swizzled order.
/// \param next  bytes to the next 64 columns of a matrix that is read by columns
__device__ inline std::uint64_t matrix_at(unsigned at, unsigned next) {
  constexpr std::uint64_t eight_rows = 1024 >> 4, swizzle_of_128_bytes = 1ull << 62;
  return static_cast<std::uint64_t>((at & 0x3ffff) >> 4) | static_cast<std::uint64_t>(next >> 4) << 16 |
         eight_rows << 32 | swizzle_of_128_bytes;
}

__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int most_pending>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(most_pending) : "memory");
}

#define HORNBILL_SUMS_8(c, i)                                                                                 \
  "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), \
      "+f"(c[i + 7])

/// sums = (adds ? sums : 0) + a * b, of 64 by 64 by 16. b is read by columns, and so is a if it is transposed.
template <bool is_transposed>
__device__ void multiply_64(float (&sums)[32], std::uint64_t a, std::uint64_t b, bool adds) {
  asm volatile(
      "{\n.reg .pred adds;\nsetp.ne.b32 adds, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
      "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, adds, 1, "
      "1, "
      "%35, 1;\n}"
      : HORNBILL_SUMS_8(sums, 0), HORNBILL_SUMS_8(sums, 8), HORNBILL_SUMS_8(sums, 16), HORNBILL_SUMS_8(sums, 24)
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)), "n"(static_cast<int>(is_transposed)));
}
/// The same of 64 by 128 by 16.
template <bool is_transposed>
__device__ void multiply_128(float (&sums)[64], std::uint64_t a, std::uint64_t b, bool adds) {
  asm volatile(
      "{\n.reg .pred adds;\nsetp.ne.b32 adds, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
      "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, "
      "%35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, "
      "%57, %58, %59, %60, %61, %62, %63}, %64, %65, adds, 1, 1, %67, 1;\n}"
      : HORNBILL_SUMS_8(sums, 0), HORNBILL_SUMS_8(sums, 8), HORNBILL_SUMS_8(sums, 16), HORNBILL_SUMS_8(sums, 24),
        HORNBILL_SUMS_8(sums, 32), HORNBILL_SUMS_8(sums, 40), HORNBILL_SUMS_8(sums, 48), HORNBILL_SUMS_8(sums, 56)
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)), "n"(static_cast<int>(is_transposed)));
}
/// sums = (adds ? sums : 0) + a * b, of 64 by 64 by 16. a is in registers, each warp's 16 rows as load_matrices()
/// brings them; b is read by rows.
__device__ inline void multiply_by_rows(float (&sums)[32], unsigned const (&a)[4], std::uint64_t b, bool adds) {
  asm volatile(
      "{\n.reg .pred adds;\nsetp.ne.b32 adds, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
      "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, "
      "%35}, %36, adds, 1, 1, 0;\n}"
      : HORNBILL_SUMS_8(sums, 0), HORNBILL_SUMS_8(sums, 8), HORNBILL_SUMS_8(sums, 16), HORNBILL_SUMS_8(sums, 24)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(adds)));
}
#undef HORNBILL_SUMS_8

// --- Sums of several blocks, and their turns
// ------------------------------------------------------------------------------------------

__device__ inline unsigned load_acquire(unsigned const* at) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
__device__ inline void store_release(unsigned* at, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}
/// *to += value, which is not waited for.
__device__ inline void add_in_memory(double* to, double value) {
  asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(to), "d"(value) : "memory");
}
/// \param barrier  from 1 to 15
__device__ inline void wait_for_four_warps(int barrier) { asm volatile("bar.sync %0, 128;" ::"r"(barrier) : "memory"); }

#endif

}  // namespace hornbill::cuda
