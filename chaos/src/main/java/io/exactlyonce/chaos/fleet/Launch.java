package io.exactlyonce.chaos.fleet;

import io.exactlyonce.chaos.cluster.ClaimServer;
import io.exactlyonce.chaos.cluster.JavaProgram;
import io.exactlyonce.chaos.cluster.ProcessGuard;
import io.exactlyonce.chaos.cluster.WallClocks;
import java.nio.file.Path;

/**
 * The settings for starting workers.
 *
 * @param logs the directory for the workers' output
 */
public record Launch(
        Addresses addresses, ClaimServer claims, JavaProgram java, WallClocks clocks, Path logs, ProcessGuard guard) {}
