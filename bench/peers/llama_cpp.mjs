// SPDX-License-Identifier: BSD-3-Clause
// llama.cpp through node-llama-cpp, asked as serving.py describes (it has no single ops).
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
answer({load_ms: performance.now() - start, device, gpu_layers: model.gpuLayers});

function answer(data) {
  console.log(JSON.stringify(data));
}

async function measure(work) {
  const cpu = process.cpuUsage(), wall = performance.now();
  const result = await work();
  const used = process.cpuUsage(cpu);
  return [{wall_ms: performance.now() - wall, cpu_ms: (used.user + used.system) / 1e3}, result];
}

let decoding;  // gives a token, and evaluates it when asked for the next one

async function prompt(tokens) {
  await sequence.clearHistory();
  decoding = sequence.evaluate(tokens, {temperature: 0, yieldEogToken: true});
  const [cost, result] = await measure(() => decoding.next());
  return {costs: [cost], next: result.value};
}

async function decode(count) {
  const costs = [];
  for (let i = 0; i < count; ++i) costs.push((await measure(() => decoding.next()))[0]);
  return {costs};
}

for await (const line of createInterface({input: process.stdin})) {
  const request = JSON.parse(line);
  answer(request.prompt ? await prompt(request.prompt) : await decode(request.tokens));
}
process.exit(0);
