package io.exactlyonce.chaos.endurance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** An {@link EnduranceWorker} in a JVM of its own. */
final class EnduranceJvm implements AutoCloseable {

    private final Process process;
    private final Path log;

    private EnduranceJvm(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    static EnduranceJvm start(Map<String, String> properties, Path log) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                EnduranceWorker.class.getName()));
        properties.forEach((name, value) -> command.add("--" + name + "=" + value));
        return new EnduranceJvm(
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start(),
                log);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Returns the worker's output so far. */
    String output() throws IOException {
        return Files.readString(log);
    }

    /** Stops the worker as an operator would. Returns whether it stopped in time. */
    boolean stop(long seconds) throws InterruptedException {
        process.destroy();
        return process.waitFor(seconds, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().orTimeout(10, TimeUnit.SECONDS).join();
    }
}
