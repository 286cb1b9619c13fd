/* A library that says what NVIDIA's would of two GPUs: loaded by a test, by its
 * path.  Each reading is 5 J more on the first. */
int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetTotalEnergyConsumption(void *device,
                                        unsigned long long *millijoules);

static unsigned long long used[2] = {1000, 7000};

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = 2;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = &used[index];
    return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device,
                                        unsigned long long *millijoules)
{
    unsigned long long *mine = device;

    *millijoules = *mine;
    if (mine == &used[0])
        *mine += 5000;
    return 0;
}
