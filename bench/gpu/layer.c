// SPDX-License-Identifier: BSD-3-Clause
// A Vulkan layer for drivers that compile for a GPU which is not there (RADV with RADV_FORCE_FAMILY). The driver gets the
// shaders, layouts and pipelines; memory, buffers, commands, fences and semaphores are the layer's own. Copies between
// buffers are carried out, so that a dispatch's parameters are known; kernels are not, so results mean nothing.
// $PTERON_RULER names a folder for what is found: events.jsonl, and for each pipeline PIPELINE.isa and PIPELINE.wgsl.
// One device and one driver at a time, compute on buffers only.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define VISIBLE __attribute__((visibility("default")))
#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
// An argument list that a function does not look at: 64-bit calling conventions allow that.
typedef VkResult (*Any)(void);

static PFN_vkGetInstanceProcAddr instance_next;
static PFN_vkGetDeviceProcAddr device_next;
static VkInstance the_instance;
// Known only while an instance is being created.
static PFN_vkEnumerateDeviceExtensionProperties next_extensions;
static PFN_vkGetPhysicalDeviceProperties next_properties;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define DRIVER(device, name) ((PFN_##name)device_next(device, #name))
#define FROM(handle, Type) ((Type*)(uintptr_t)(handle))
#define TO(Type, pointer) ((Type)(uintptr_t)(pointer))

static FILE* open_in_folder(const char* name, const char* mode) {
  char path[4096];
  const char* folder = getenv("PTERON_RULER");
  snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", name);
  return fopen(path, mode);
}
static FILE* events(void) {
  static FILE* file;
  if (!file) file = open_in_folder("events.jsonl", "w");
  if (!file) abort();
  return file;
}
static void save(int pipeline, const char* ending, const char* text, size_t size) {
  char name[64];
  snprintf(name, sizeof name, "%d.%s", pipeline, ending);
  FILE* file = open_in_folder(name, "w");
  if (!file) return;
  fwrite(text, 1, size, file);
  fclose(file);
}

// ---- Labels and sources: this library is preloaded and stands in front of wgpu-native. The structs begin as webgpu.h's.

typedef struct {
  const char* data;
  size_t length;
} View;
typedef struct Chain {
  const struct Chain* next;
  int type;
  View code;  // of WGSL
} Chain;
typedef struct {
  const Chain* next;
  View label;
} ModuleDescriptor;
typedef struct {
  const Chain* next;
  View label;
  void *layout, *stage_next, *module;
} PipelineDescriptor;
typedef struct Source {
  struct Source* next;
  void* module;
  View code;
  bool trusted;
} Source;
static Source* sources;
static _Thread_local const Source* current_source;
static _Thread_local View current_label;

static void* remember(void* module, const ModuleDescriptor* descriptor, bool trusted) {
  const Chain* chain = descriptor->next;
  while (chain && chain->type != 2) chain = chain->next;
  Source* source = calloc(1, sizeof *source);
  *source = (Source){sources, module, chain ? chain->code : (View){"", 0}, trusted};
  source->code.data = strndup(source->code.data, source->code.length);
  pthread_mutex_lock(&lock);
  source->next = sources;
  sources = source;
  pthread_mutex_unlock(&lock);
  return module;
}
VISIBLE void* wgpuDeviceCreateShaderModule(void* device, const ModuleDescriptor* descriptor) {
  void* (*next)(void*, const ModuleDescriptor*) = dlsym(RTLD_NEXT, "wgpuDeviceCreateShaderModule");
  return remember(next(device, descriptor), descriptor, false);
}
VISIBLE void* wgpuDeviceCreateShaderModuleTrusted(void* device, const ModuleDescriptor* descriptor, uint64_t checks) {
  void* (*next)(void*, const ModuleDescriptor*, uint64_t) = dlsym(RTLD_NEXT, "wgpuDeviceCreateShaderModuleTrusted");
  return remember(next(device, descriptor, checks), descriptor, true);
}
VISIBLE void* wgpuDeviceCreateComputePipeline(void* device, const PipelineDescriptor* descriptor) {
  void* (*next)(void*, const PipelineDescriptor*) = dlsym(RTLD_NEXT, "wgpuDeviceCreateComputePipeline");
  pthread_mutex_lock(&lock);
  current_source = sources;
  while (current_source && current_source->module != descriptor->module) current_source = current_source->next;
  pthread_mutex_unlock(&lock);
  current_label = descriptor->label;
  void* pipeline = next(device, descriptor);
  current_source = NULL;
  return pipeline;
}

// ---- Pipelines ------------------------------------------------------------------------------------------------------

// The workgroup size is in the WGSL, so SPIR-V needs no reading.
typedef struct Made {
  struct Made* next;
  VkPipeline handle;
  int id;
} Made;
static Made* made;

static void describe(VkDevice device, VkPipeline handle) {
  Made* entry = malloc(sizeof *entry);
  *entry = (Made){made, handle, made ? made->id + 1 : 0};
  made = entry;
  VkPipelineExecutablePropertiesKHR executable = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR};
  const VkPipelineInfoKHR pipeline = {VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, NULL, handle};
  uint32_t count = 1;
  DRIVER(device, vkGetPipelineExecutablePropertiesKHR)(device, &pipeline, &count, &executable);
  fprintf(events(), "{\"event\": \"pipeline\", \"id\": %d, \"label\": \"%.*s\", \"trusted\": %s, \"wave\": %u", entry->id,
          current_source ? (int)current_label.length : 0, current_label.data,
          current_source && current_source->trusted ? "true" : "false", executable.subgroupSize);
  const VkPipelineExecutableInfoKHR which = {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, NULL, handle, 0};
  VkPipelineExecutableStatisticKHR statistics[64];
  for (size_t i = 0; i < LENGTH(statistics); ++i)
    statistics[i] = (VkPipelineExecutableStatisticKHR){.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
  count = LENGTH(statistics);
  DRIVER(device, vkGetPipelineExecutableStatisticsKHR)(device, &which, &count, statistics);
  for (uint32_t i = 0; i < count; ++i)
    fprintf(events(), ", \"%s\": %llu", statistics[i].name, (unsigned long long)statistics[i].value.u64);
  fprintf(events(), "}\n");
  VkPipelineExecutableInternalRepresentationKHR texts[16];
  for (size_t i = 0; i < LENGTH(texts); ++i)
    texts[i] = (VkPipelineExecutableInternalRepresentationKHR){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR};
  count = LENGTH(texts);
  const PFN_vkGetPipelineExecutableInternalRepresentationsKHR get =
      DRIVER(device, vkGetPipelineExecutableInternalRepresentationsKHR);
  get(device, &which, &count, texts);
  for (uint32_t i = 0; i < count; ++i) texts[i].pData = calloc(1, texts[i].dataSize + 1);
  get(device, &which, &count, texts);
  for (uint32_t i = 0; i < count; ++i) {
    if (strstr(texts[i].name, "ssembly")) save(entry->id, "isa", texts[i].pData, strlen(texts[i].pData));
    free(texts[i].pData);
  }
  if (current_source) save(entry->id, "wgsl", current_source->code.data, strlen(current_source->code.data));
}

static VkResult create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                 const VkComputePipelineCreateInfo* infos, const VkAllocationCallbacks* allocator,
                                 VkPipeline* out) {
  (void)cache;
  for (uint32_t i = 0; i < count; ++i) {
    VkComputePipelineCreateInfo info = infos[i];
    info.flags |=
        VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR | VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
    const VkResult result =
        DRIVER(device, vkCreateComputePipelines)(device, VK_NULL_HANDLE, 1, &info, allocator, &out[i]);
    if (result != VK_SUCCESS) return result;
    pthread_mutex_lock(&lock);
    describe(device, out[i]);
    pthread_mutex_unlock(&lock);
  }
  return VK_SUCCESS;
}

// ---- Memory and buffers ---------------------------------------------------------------------------------------------

enum { alignment = 256 };
typedef struct {
  VkDeviceSize size;
  uint8_t* bytes;
} Buffer;

static void memory_types(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties* out) {
  (void)physical;
  const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                              host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  *out = (VkPhysicalDeviceMemoryProperties){
      3, {{local, 0}, {host, 1}, {host | cached, 1}}, 2,
      {{(VkDeviceSize)16 << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}, {(VkDeviceSize)16 << 30, 0}}};
}
static void memory_types2(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties2* out) {
  memory_types(physical, &out->memoryProperties);
}
static VkResult allocate(VkDevice device, const VkMemoryAllocateInfo* info, const void* a, VkDeviceMemory* out) {
  (void)device, (void)a;
  *out = TO(VkDeviceMemory, calloc(1, info->allocationSize));
  return *out ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}
static VkResult map(VkDevice device, VkDeviceMemory memory, VkDeviceSize at, VkDeviceSize n, uint32_t f, void** out) {
  (void)device, (void)n, (void)f;
  *out = FROM(memory, uint8_t) + at;
  return VK_SUCCESS;
}
static VkResult create_buffer(VkDevice device, const VkBufferCreateInfo* info, const void* a, VkBuffer* out) {
  (void)device, (void)a;
  Buffer* buffer = calloc(1, sizeof *buffer);
  buffer->size = info->size;
  *out = TO(VkBuffer, buffer);
  return VK_SUCCESS;
}
static VkMemoryRequirements requirements(VkDeviceSize size) {
  return (VkMemoryRequirements){(size + alignment - 1) / alignment * alignment, alignment, 7};
}
static void buffer_needs(VkDevice device, VkBuffer buffer, VkMemoryRequirements* out) {
  (void)device;
  *out = requirements(FROM(buffer, Buffer)->size);
}
static void buffer_needs2(VkDevice device, const VkBufferMemoryRequirementsInfo2* info, VkMemoryRequirements2* out) {
  buffer_needs(device, info->buffer, &out->memoryRequirements);
}
static void info_needs(VkDevice device, const VkDeviceBufferMemoryRequirements* info, VkMemoryRequirements2* out) {
  (void)device;
  out->memoryRequirements = requirements(info->pCreateInfo->size);
}
static VkResult bind_memory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset) {
  (void)device;
  FROM(buffer, Buffer)->bytes = FROM(memory, uint8_t) + offset;
  return VK_SUCCESS;
}
static VkResult bind_memory2(VkDevice device, uint32_t count, const VkBindBufferMemoryInfo* infos) {
  for (uint32_t i = 0; i < count; ++i) bind_memory(device, infos[i].buffer, infos[i].memory, infos[i].memoryOffset);
  return VK_SUCCESS;
}
// Memory, buffers, fences and semaphores are allocations of the layer.
static void destroy(VkDevice device, void* object) {
  (void)device;
  free(object);
}

// ---- Commands: what is bound, then a list of copies and dispatches that a submission goes through ---------------------

enum { max_bindings = 16, parameter_bytes = 256 };
typedef struct Set {
  struct Set* next;
  VkDescriptorSet handle;
  VkDescriptorBufferInfo bound[max_bindings];
  bool dynamic[max_bindings];
  uint32_t used;
} Set;
static Set* sets;
typedef struct {
  const Buffer *from, *to;  // of a copy
  VkBufferCopy region;
  int pipeline;  // of a dispatch
  uint32_t grid[3];
  VkDescriptorBufferInfo parameters;
  VkDeviceSize bound[max_bindings];
  uint32_t bindings;
} Command;
typedef struct Recording {
  struct Recording* next;
  VkCommandBuffer handle;
  Command* commands;
  size_t used, capacity;
  uint32_t barriers;
  Command current;
} Recording;
static Recording* recordings;

static Set* set_of(VkDescriptorSet handle) {
  Set* set = sets;
  while (set && set->handle != handle) set = set->next;
  if (set) return set;
  set = calloc(1, sizeof *set);
  set->next = sets;
  set->handle = handle;
  return sets = set;
}
static Recording* recording_of(VkCommandBuffer handle) {
  Recording* recording = recordings;
  while (recording && recording->handle != handle) recording = recording->next;
  if (recording) return recording;
  recording = calloc(1, sizeof *recording);
  recording->next = recordings;
  recording->handle = handle;
  return recordings = recording;
}
static void add(Recording* recording, Command command) {
  if (recording->used == recording->capacity) {
    recording->capacity = recording->capacity ? 2 * recording->capacity : 64;
    recording->commands = realloc(recording->commands, recording->capacity * sizeof command);
  }
  recording->commands[recording->used++] = command;
}

static void update_sets(VkDevice device, uint32_t count, const VkWriteDescriptorSet* writes) {
  (void)device;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t j = 0; writes[i].pBufferInfo && j < writes[i].descriptorCount; ++j) {
      const uint32_t binding = writes[i].dstBinding + j;
      if (binding >= max_bindings) continue;
      Set* set = set_of(writes[i].dstSet);
      set->bound[binding] = writes[i].pBufferInfo[j];
      set->dynamic[binding] = writes[i].descriptorType == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
      if (set->used <= binding) set->used = binding + 1;
    }
  pthread_mutex_unlock(&lock);
}
static VkResult begin(VkCommandBuffer handle) {
  pthread_mutex_lock(&lock);
  Recording* recording = recording_of(handle);
  recording->used = recording->barriers = 0;
  pthread_mutex_unlock(&lock);
  return VK_SUCCESS;
}
static void bind_pipeline(VkCommandBuffer handle, int point, VkPipeline pipeline) {
  (void)point;
  pthread_mutex_lock(&lock);
  const Made* entry = made;
  while (entry && entry->handle != pipeline) entry = entry->next;
  recording_of(handle)->current.pipeline = entry ? entry->id : -1;
  pthread_mutex_unlock(&lock);
}
static void bind_sets(VkCommandBuffer handle, int point, VkPipelineLayout layout, uint32_t first, uint32_t count,
                      const VkDescriptorSet* handles, uint32_t offset_count, const uint32_t* offsets) {
  (void)point, (void)layout;
  if (first > 0 || count == 0) return;
  pthread_mutex_lock(&lock);
  const Set* set = set_of(handles[0]);
  Command* current = &recording_of(handle)->current;
  current->bindings = set->used;
  current->parameters = set->bound[0];
  if (set->dynamic[0] && offset_count > 0) current->parameters.offset += offsets[0];
  for (uint32_t i = 0; i < set->used; ++i)
    current->bound[i] = set->bound[i].range == VK_WHOLE_SIZE && set->bound[i].buffer
                            ? FROM(set->bound[i].buffer, Buffer)->size - set->bound[i].offset
                            : set->bound[i].range;
  pthread_mutex_unlock(&lock);
}
static void dispatch(VkCommandBuffer handle, uint32_t x, uint32_t y, uint32_t z) {
  pthread_mutex_lock(&lock);
  Recording* recording = recording_of(handle);
  Command command = recording->current;
  command.grid[0] = x, command.grid[1] = y, command.grid[2] = z;
  add(recording, command);
  pthread_mutex_unlock(&lock);
}
static void copy(VkCommandBuffer handle, VkBuffer from, VkBuffer to, uint32_t count, const VkBufferCopy* regions) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < count; ++i)
    add(recording_of(handle), (Command){.from = FROM(from, Buffer), .to = FROM(to, Buffer), .region = regions[i]});
  pthread_mutex_unlock(&lock);
}
static void barrier(VkCommandBuffer handle) {
  pthread_mutex_lock(&lock);
  ++recording_of(handle)->barriers;
  pthread_mutex_unlock(&lock);
}
static VkResult nothing(void) { return VK_SUCCESS; }

// ---- Submissions complete at once -----------------------------------------------------------------------------------

static void print_dispatch(const Command* d, bool first) {
  fprintf(events(), "%s{\"pipeline\": %d, \"groups\": %llu, \"bound\": [", first ? "" : ", ", d->pipeline,
          (unsigned long long)d->grid[0] * d->grid[1] * d->grid[2]);
  for (uint32_t i = 0; i < d->bindings; ++i)
    fprintf(events(), "%s%llu", i > 0 ? ", " : "", (unsigned long long)d->bound[i]);
  fprintf(events(), "], \"parameters\": \"");
  const Buffer* buffer = FROM(d->parameters.buffer, Buffer);
  for (uint32_t i = 0; buffer && i < parameter_bytes && d->parameters.offset + i < buffer->size; ++i)
    fprintf(events(), "%02x", buffer->bytes[d->parameters.offset + i]);
  fprintf(events(), "\"}");
}
static void run(const VkCommandBuffer* handles, uint32_t count) {
  bool first = true;
  uint32_t barriers = 0;
  fprintf(events(), "{\"event\": \"submit\", \"dispatches\": [");
  for (uint32_t i = 0; i < count; ++i) {
    const Recording* recording = recording_of(handles[i]);
    barriers += recording->barriers;
    for (size_t j = 0; j < recording->used; ++j) {
      const Command* c = &recording->commands[j];
      if (c->from) {
        memmove(c->to->bytes + c->region.dstOffset, c->from->bytes + c->region.srcOffset, c->region.size);
        continue;
      }
      print_dispatch(c, first);
      first = false;
    }
  }
  fprintf(events(), "], \"barriers\": %u}\n", barriers);
  fflush(events());
}
// A fence or a semaphore is the number that it was last set to.
static VkResult create_fence(VkDevice device, const VkFenceCreateInfo* info, const void* a, VkFence* out) {
  (void)device, (void)a;
  uint64_t* value = calloc(1, sizeof *value);
  *value = info->flags & VK_FENCE_CREATE_SIGNALED_BIT;
  *out = TO(VkFence, value);
  return VK_SUCCESS;
}
static VkResult fence_status(VkDevice device, VkFence fence) {
  (void)device;
  return *FROM(fence, uint64_t) ? VK_SUCCESS : VK_NOT_READY;
}
static VkResult reset_fences(VkDevice device, uint32_t count, const VkFence* fences) {
  (void)device;
  for (uint32_t i = 0; i < count; ++i) *FROM(fences[i], uint64_t) = 0;
  return VK_SUCCESS;
}
static VkResult create_semaphore(VkDevice device, const VkSemaphoreCreateInfo* info, const void* a, VkSemaphore* out) {
  (void)device, (void)a, (void)info;
  *out = TO(VkSemaphore, calloc(1, sizeof(uint64_t)));
  return VK_SUCCESS;
}
static VkResult semaphore_value(VkDevice device, VkSemaphore semaphore, uint64_t* out) {
  (void)device;
  *out = *FROM(semaphore, uint64_t);
  return VK_SUCCESS;
}
static VkResult submit(VkQueue queue, uint32_t count, const VkSubmitInfo* infos, VkFence fence) {
  (void)queue;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < count; ++i) {
    run(infos[i].pCommandBuffers, infos[i].commandBufferCount);
    for (const VkBaseInStructure* s = infos[i].pNext; s; s = s->pNext) {
      if (s->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO) continue;
      const VkTimelineSemaphoreSubmitInfo* timeline = (const VkTimelineSemaphoreSubmitInfo*)s;
      for (uint32_t j = 0; j < timeline->signalSemaphoreValueCount; ++j)
        *FROM(infos[i].pSignalSemaphores[j], uint64_t) = timeline->pSignalSemaphoreValues[j];
    }
  }
  if (fence) *FROM(fence, uint64_t) = 1;
  pthread_mutex_unlock(&lock);
  return VK_SUCCESS;
}

// ---- Instance and device --------------------------------------------------------------------------------------------

// The missing device has no budget and would crash if it were asked for it.
static VkResult extensions(VkPhysicalDevice physical, const char* layer, uint32_t* count, VkExtensionProperties* out) {
  const VkResult result = next_extensions(physical, layer, count, out);
  for (uint32_t i = 0; out && i < *count; ++i)
    if (!strcmp(out[i].extensionName, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME))
      strcpy(out[i].extensionName, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  return result;
}
static VkResult create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                              const VkAllocationCallbacks* allocator, VkDevice* out) {
  VkLayerDeviceCreateInfo* link = (VkLayerDeviceCreateInfo*)info->pNext;
  while (link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO)
    link = (VkLayerDeviceCreateInfo*)link->pNext;
  const PFN_vkGetInstanceProcAddr next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  device_next = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR feature = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, (void*)info->pNext, VK_TRUE};
  const char* names[128] = {VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME};
  VkDeviceCreateInfo changed = *info;
  changed.pNext = &feature;
  changed.enabledExtensionCount = 1;
  changed.ppEnabledExtensionNames = names;
  for (uint32_t i = 0; i < info->enabledExtensionCount && changed.enabledExtensionCount < LENGTH(names); ++i)
    if (strcmp(info->ppEnabledExtensionNames[i], names[0]))
      names[changed.enabledExtensionCount++] = info->ppEnabledExtensionNames[i];
  const VkResult result =
      ((PFN_vkCreateDevice)next(the_instance, "vkCreateDevice"))(physical, &changed, allocator, out);
  VkPhysicalDeviceProperties about;
  next_properties(physical, &about);
  fprintf(events(), "{\"event\": \"device\", \"name\": \"%s\", \"driver\": \"Mesa %u.%u.%u\"}\n", about.deviceName,
          VK_VERSION_MAJOR(about.driverVersion), VK_VERSION_MINOR(about.driverVersion),
          VK_VERSION_PATCH(about.driverVersion));
  return result;
}
static VkResult create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                                VkInstance* out) {
  VkLayerInstanceCreateInfo* link = (VkLayerInstanceCreateInfo*)info->pNext;
  while (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO)
    link = (VkLayerInstanceCreateInfo*)link->pNext;
  instance_next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const VkResult result = ((PFN_vkCreateInstance)instance_next(NULL, "vkCreateInstance"))(info, allocator, out);
  the_instance = *out;
  next_extensions =
      (PFN_vkEnumerateDeviceExtensionProperties)instance_next(*out, "vkEnumerateDeviceExtensionProperties");
  next_properties = (PFN_vkGetPhysicalDeviceProperties)instance_next(*out, "vkGetPhysicalDeviceProperties");
  return result;
}

// ---- Which functions are the layer's own ----------------------------------------------------------------------------

VISIBLE PFN_vkVoidFunction ruler_device(VkDevice device, const char* name);
VISIBLE PFN_vkVoidFunction ruler_instance(VkInstance instance, const char* name);
#define OWN(name, function) {name, (Any)function}
static const struct {
  const char* name;
  Any function;
} own[] = {
    OWN("vkGetInstanceProcAddr", ruler_instance),
    OWN("vkGetDeviceProcAddr", ruler_device),
    OWN("vkCreateInstance", create_instance),
    OWN("vkCreateDevice", create_device),
    OWN("vkEnumerateDeviceExtensionProperties", extensions),
    OWN("vkGetPhysicalDeviceMemoryProperties", memory_types),
    OWN("vkGetPhysicalDeviceMemoryProperties2", memory_types2),
    OWN("vkGetPhysicalDeviceMemoryProperties2KHR", memory_types2),
    OWN("vkCreateComputePipelines", create_pipelines),
    OWN("vkSetDebugUtilsObjectNameEXT", nothing),
    OWN("vkAllocateMemory", allocate),
    OWN("vkFreeMemory", destroy),
    OWN("vkMapMemory", map),
    OWN("vkUnmapMemory", nothing),
    OWN("vkFlushMappedMemoryRanges", nothing),
    OWN("vkInvalidateMappedMemoryRanges", nothing),
    OWN("vkCreateBuffer", create_buffer),
    OWN("vkDestroyBuffer", destroy),
    OWN("vkGetBufferMemoryRequirements", buffer_needs),
    OWN("vkGetBufferMemoryRequirements2", buffer_needs2),
    OWN("vkGetBufferMemoryRequirements2KHR", buffer_needs2),
    OWN("vkGetDeviceBufferMemoryRequirements", info_needs),
    OWN("vkBindBufferMemory", bind_memory),
    OWN("vkBindBufferMemory2", bind_memory2),
    OWN("vkBindBufferMemory2KHR", bind_memory2),
    OWN("vkUpdateDescriptorSets", update_sets),
    OWN("vkBeginCommandBuffer", begin),
    OWN("vkEndCommandBuffer", nothing),
    OWN("vkResetCommandBuffer", nothing),
    OWN("vkResetCommandPool", nothing),
    OWN("vkCmdBindPipeline", bind_pipeline),
    OWN("vkCmdBindDescriptorSets", bind_sets),
    OWN("vkCmdDispatch", dispatch),
    OWN("vkCmdCopyBuffer", copy),
    OWN("vkCmdPipelineBarrier", barrier),
    OWN("vkQueueSubmit", submit),
    OWN("vkQueueWaitIdle", nothing),
    OWN("vkDeviceWaitIdle", nothing),
    OWN("vkCreateSemaphore", create_semaphore),
    OWN("vkDestroySemaphore", destroy),
    OWN("vkGetSemaphoreCounterValue", semaphore_value),
    OWN("vkGetSemaphoreCounterValueKHR", semaphore_value),
    OWN("vkWaitSemaphores", nothing),
    OWN("vkWaitSemaphoresKHR", nothing),
    OWN("vkCreateFence", create_fence),
    OWN("vkDestroyFence", destroy),
    OWN("vkGetFenceStatus", fence_status),
    OWN("vkResetFences", reset_fences),
    OWN("vkWaitForFences", nothing),
    OWN("vkGetQueryPoolResults", nothing),
};
static PFN_vkVoidFunction find(const char* name) {
  for (size_t i = 0; i < LENGTH(own); ++i)
    if (!strcmp(own[i].name, name)) return (PFN_vkVoidFunction)own[i].function;
  return NULL;
}
PFN_vkVoidFunction ruler_device(VkDevice device, const char* name) {
  const PFN_vkVoidFunction mine = find(name);
  if (mine) return mine;
  const PFN_vkVoidFunction next = device_next(device, name);
  return next && !strncmp(name, "vkCmd", 5) ? (PFN_vkVoidFunction)nothing : next;
}
PFN_vkVoidFunction ruler_instance(VkInstance instance, const char* name) {
  const PFN_vkVoidFunction mine = find(name);
  if (mine) return mine;
  return instance_next ? instance_next(instance, name) : NULL;
}
