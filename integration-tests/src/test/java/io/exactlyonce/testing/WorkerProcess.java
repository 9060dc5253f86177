package io.exactlyonce.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.json.JsonMapper;

/**
 * An application in a JVM of its own. {@link #close()} kills it if it still runs. Its output goes to {@code
 * worker.log}.
 */
public final class WorkerProcess implements AutoCloseable {

    /** Options of the JVM for an application that runs for seconds: no optimizing compiler, and the simplest collector. */
    public static final List<String> SHORT_LIVED = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private final Process process;

    private WorkerProcess(Process process) {
        this.process = process;
    }

    /**
     * Starts a class's main method with this JVM's class path and {@link #SHORT_LIVED} options.
     *
     * @param directory where its output goes
     */
    public static WorkerProcess start(Class<?> main, Path directory, String... arguments) throws IOException {
        List<String> options = new ArrayList<>(SHORT_LIVED);
        options.addAll(List.of("-cp", System.getProperty("java.class.path")));
        return start(options, main, directory, arguments);
    }

    /**
     * Starts a class's main method. Arguments that are properties ({@code --name=value}) are passed through the
     * environment, which other users of the machine cannot read, because some are passwords of servers.
     *
     * @param options of the JVM, the class path among them
     * @param directory where its output goes
     */
    public static WorkerProcess start(List<String> options, Class<?> main, Path directory, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.add(main.getName());
        Map<String, String> properties = new LinkedHashMap<>();
        for (String argument : arguments) {
            if (argument.startsWith("--")) {
                int end = argument.indexOf('=');
                properties.put(argument.substring(2, end), argument.substring(end + 1));
            } else {
                command.add(argument);
            }
        }
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("worker.log").toFile());
        builder.environment().put("SPRING_APPLICATION_JSON", JsonMapper.shared().writeValueAsString(properties));
        return new WorkerProcess(builder.start());
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Sends SIGTERM, so that the application shuts down. */
    public void terminate() {
        process.destroy();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().orTimeout(10, TimeUnit.SECONDS).join();
    }
}
