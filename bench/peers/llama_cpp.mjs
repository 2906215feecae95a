// SPDX-License-Identifier: BSD-3-Clause
// llama.cpp through node-llama-cpp. Answers a line of JSON per line on standard input: {"tokens": N} decodes N tokens at
// context 32, {"prompt": N} reads a prompt of N tokens.
// usage: node llama_cpp.mjs FOLDER_OF_NODE_MODULES MODEL.gguf vulkan|cpu
import {createInterface} from "node:readline";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const [folder, modelPath, backend] = process.argv.slice(2);
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(createRequire(folder + "/").resolve("node-llama-cpp")));
const gpu = backend === "cpu" ? false : backend;

const start = performance.now();
const llama = await getLlama({gpu, build: "never", logLevel: LlamaLogLevel.error, vramPadding: 0});
const model = await llama.loadModel({modelPath, gpuLayers: gpu ? "max" : 0, ignoreMemorySafetyChecks: true});
const context = await model.createContext({contextSize: 256, batchSize: 128, threads: 2, ignoreMemorySafetyChecks: true});
const sequence = context.getSequence();
const device = gpu ? (await llama.getGpuDeviceNames()).join(", ") : "CPU";
console.log(JSON.stringify({load_ms: performance.now() - start, device, gpu_layers: model.gpuLayers}));

const some = (count) => Array.from({length: count}, (_, i) => 300 + 7 * i);

async function measure(work) {
  const cpu = process.cpuUsage(), wall = performance.now();
  await work();
  const used = process.cpuUsage(cpu);
  return {wall_ms: performance.now() - wall, cpu_ms: (used.user + used.system) / 1e3};
}

async function prompt(count) {
  await sequence.clearHistory();
  return await measure(() => sequence.evaluateWithoutGeneratingNewTokens(some(count)));
}

async function tokens(count) {
  const decoded = sequence.evaluate([400], {temperature: 0, yieldEogToken: true});
  await decoded.next();  // not counted
  const runs = [];
  for (let i = 0; i < count; ++i) runs.push(await measure(() => decoded.next()));
  return runs;
}

for await (const line of createInterface({input: process.stdin})) {
  const request = JSON.parse(line);
  if (request.prompt) console.log(JSON.stringify([await prompt(request.prompt)]));
  if (request.tokens) {
    if (sequence.nextTokenIndex < 32) await prompt(32);
    console.log(JSON.stringify(await tokens(request.tokens)));
  }
}
process.exit(0);
