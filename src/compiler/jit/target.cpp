// See target.h. The pass list is short on purpose: -O2 gained nothing on this IR and cost twice the
// time (docs/design/simt.md, "Compile time").
#include "compiler/jit/target.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/DataExtractor.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <mutex>

#include "compiler/jit/sink_rare.h"
#include "compiler/jit/split_accumulators.h"

namespace limen::jit {

using namespace llvm;

namespace {

simt::Target host_target() {
  simt::Target t;
  t.cpu = sys::getHostCPUName().str();
  auto features = sys::getHostCPUFeatures();
  for (auto& f : features) {
    if (!t.features.empty()) t.features += ",";
    t.features += (f.getValue() ? "+" : "-") + f.getKey().str();
  }
  complete_host(features, t);
  return t;
}

}  // namespace

const simt::Target* find_target(const std::string& name) {
  if (name.empty() || name == "host") {
    static const auto* host = new simt::Target(host_target());
    return host;
  }
  static const auto* named = new std::vector<simt::Target>(named_targets());
  for (const simt::Target& t : *named)
    if (t.cpu == name) return &t;
  return nullptr;
}

std::unique_ptr<TargetMachine> make_machine(const simt::Target& target, uint32_t opt_level,
                                            std::string& error) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser();  // for inline assembly
  });
  const std::string triple = sys::getProcessTriple();
  const llvm::Target* t = TargetRegistry::lookupTarget(triple, error);
  if (!t) return nullptr;
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  options.TrapUnreachable = true;
  options.EmitStackSizeSection = true;
  std::unique_ptr<TargetMachine> m(t->createTargetMachine(
      triple, target.cpu, target.features, options, Reloc::PIC_, CodeModel::Small,
      opt_level == 0   ? CodeGenOptLevel::None
      : opt_level == 1 ? CodeGenOptLevel::Less
                       : CodeGenOptLevel::Default));
  return m;
}

void optimize(Module& module, TargetMachine& machine, const simt::Target& target,
              uint32_t opt_level) {
  LoopAnalysisManager lam;
  FunctionAnalysisManager fam;
  CGSCCAnalysisManager cam;
  ModuleAnalysisManager mam;
  PassBuilder pb(&machine);
  pb.registerModuleAnalyses(mam);
  pb.registerCGSCCAnalyses(cam);
  pb.registerFunctionAnalyses(fam);
  pb.registerLoopAnalyses(lam);
  pb.crossRegisterProxies(lam, fam, cam, mam);
  ModulePassManager mpm;
  FunctionPassManager early;
  early.addPass(SROAPass(SROAOptions::ModifyCFG));
  early.addPass(EarlyCSEPass(true));
  early.addPass(SimplifyCFGPass());
  mpm.addPass(createModuleToFunctionPassAdaptor(std::move(early)));
  mpm.addPass(AlwaysInlinerPass());
  mpm.addPass(GlobalDCEPass());
  FunctionPassManager fpm;
  fpm.addPass(SROAPass(SROAOptions::ModifyCFG));
  fpm.addPass(EarlyCSEPass(true));
  fpm.addPass(InstCombinePass(InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  fpm.addPass(SimplifyCFGPass());
  if (opt_level > 0) {
    fpm.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
    fpm.addPass(EarlyCSEPass(true));
    fpm.addPass(InstCombinePass(InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
    fpm.addPass(SimplifyCFGPass());
  }
  fpm.addPass(ADCEPass());
  if (opt_level > 0) fpm.addPass(SplitAccumulators(target.avx512));
  if (opt_level > 0) fpm.addPass(SinkRare());
  mpm.addPass(createModuleToFunctionPassAdaptor(std::move(fpm)));
  mpm.run(module, mam);
}

namespace {

/// The sum over `.stack_sizes`: an address and a size for each function (llvm/docs/CodeGenerator).
uint64_t frame_bytes_of(StringRef bytes, std::string& error) {
  auto object = object::ELFObjectFile<object::ELF64LE>::create(MemoryBufferRef(bytes, "kernel"));
  if (!object) return error = toString(object.takeError()), 0;
  uint64_t sum = 0;
  for (const object::SectionRef& section : object->sections()) {
    Expected<StringRef> name = section.getName();
    if (!name) return error = toString(name.takeError()), 0;
    if (*name != ".stack_sizes") continue;
    Expected<StringRef> content = section.getContents();
    if (!content) return error = toString(content.takeError()), 0;
    DataExtractor data(*content, true, 8);
    DataExtractor::Cursor at(0);
    while (at && !data.eof(at)) {
      data.skip(at, 8);
      sum += data.getULEB128(at);
    }
    if (llvm::Error bad = at.takeError()) return error = toString(std::move(bad)), 0;
  }
  return sum;
}

}  // namespace

EmittedObject emit_object(Module& module, TargetMachine& machine, std::string& error) {
  SmallVector<char, 0> buffer;
  raw_svector_ostream out(buffer);
  legacy::PassManager pm;
  if (machine.addPassesToEmitFile(pm, out, nullptr, CodeGenFileType::ObjectFile)) {
    error = "this target cannot emit object files";
    return {};
  }
  pm.run(module);
  const uint64_t frames = frame_bytes_of({buffer.data(), buffer.size()}, error);
  if (!error.empty()) return {};
  return {{buffer.begin(), buffer.end()}, frames};
}

}  // namespace limen::jit
