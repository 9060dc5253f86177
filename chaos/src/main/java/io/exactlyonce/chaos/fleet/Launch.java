package io.exactlyonce.chaos.fleet;

import io.exactlyonce.chaos.cluster.ClaimServer;
import io.exactlyonce.chaos.cluster.JavaProgram;
import io.exactlyonce.chaos.cluster.ProcessGuard;
import io.exactlyonce.chaos.cluster.WallClocks;
import java.nio.file.Path;

/**
 * What is needed to start workers.
 *
 * @param logs where their output goes
 */
public record Launch(
        Addresses addresses, ClaimServer claims, JavaProgram java, WallClocks clocks, Path logs, ProcessGuard guard) {}
