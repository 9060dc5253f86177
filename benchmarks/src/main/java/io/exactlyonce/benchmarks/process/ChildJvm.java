package io.exactlyonce.benchmarks.process;

import io.exactlyonce.benchmarks.Benchmarks;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.json.JsonMapper;

/**
 * A part of this program in a separate JVM. The JVM answers each line of JSON with another line. The JVM ends when its
 * standard input ends, so it cannot outlive the benchmarks.
 */
public final class ChildJvm implements AutoCloseable {

    /** Options that are the same for all contestants. */
    private static final List<String> OPTIONS = List.of("-Xms512m", "-Xmx512m");

    /** Options if times do not matter: no time is spent on the best machine code. */
    private static final List<String> SHORT_OPTIONS = List.of("-Xmx256m", "-XX:TieredStopAtLevel=1");

    /** Stands for the worker's kind in its options, so that each kind can have its own AOT cache. */
    private static final String PROTECTION = "{protection}";

    /** A JVM that writes an AOT cache at its end needs some 20 s on two cores. */
    private static final long STOP_SECONDS = 60;

    private final Process process;
    private final Writer questions;
    private final BufferedReader answers;

    private ChildJvm(Process process) {
        this.process = process;
        this.questions = process.outputWriter();
        this.answers = process.inputReader();
    }

    /** Starts a part of this program. */
    public static ChildJvm start(Role role, List<String> arguments) throws IOException {
        return start(role, arguments, Map.of());
    }

    /**
     * Starts a part of this program with secrets in its environment. Other users can read arguments, but not the
     * environment.
     */
    static ChildJvm start(Role role, List<String> arguments, Map<String, String> secrets) throws IOException {
        String classPath = System.getProperty("java.class.path");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(System.getProperty("bench.short") == null ? OPTIONS : SHORT_OPTIONS);
        command.addAll(options("bench.jvm-options"));
        if (role == Role.WORKER) {
            command.addAll(options("bench.worker-options").stream()
                    .map(option -> option.replace(PROTECTION, arguments.get(0)))
                    .toList());
        }
        boolean isOneJar = classPath.endsWith(".jar") && !classPath.contains(System.getProperty("path.separator"));
        command.addAll(isOneJar ? List.of("-jar", classPath) : List.of("-cp", classPath, Benchmarks.class.getName()));
        command.add(role.argument());
        command.addAll(arguments);
        ProcessBuilder child = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        child.environment().putAll(secrets);
        return new ChildJvm(child.start());
    }

    /** Returns options of the command line: {@code -Dbench.jvm-options="-XX:StartFlightRecording=..."}. */
    private static List<String> options(String property) {
        String options = System.getProperty(property, "");
        return options.isBlank() ? List.of() : List.of(options.trim().split(" +"));
    }

    /** Waits for a message that the process sends without a request. */
    public <T> T hear(Class<T> answer) throws IOException {
        for (String line = answers.readLine(); line != null; line = answers.readLine()) {
            if (line.startsWith(Conversation.ANSWER)) {
                return JsonMapper.shared().readValue(line.substring(Conversation.ANSWER.length()), answer);
            }
        }
        throw new IOException("A child process ended; what it says of that stands above");
    }

    /** Sends a request, and waits for the answer. */
    public <T> T ask(Object question, Class<T> answer) throws IOException {
        tell(question);
        return hear(answer);
    }

    /** Sends a request without waiting for an answer. */
    public void tell(Object question) throws IOException {
        questions.write(JsonMapper.shared().writeValueAsString(question) + "\n");
        questions.flush();
    }

    /** Ends the process at once, because its results have arrived. */
    public void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException stopping) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
