package io.exactlyonce.sample.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A worker in a JVM of its own. It ends when its standard input does, so it cannot outlive the lab. */
public final class WorkerProcess implements AutoCloseable {

    private static final String READY = "ready ";
    private static final long STOP_SECONDS = 10;
    private static final int LAST_LINES = 20;

    private final String name;
    private final Path log;
    private final Process process;
    private final CompletableFuture<Integer> port = new CompletableFuture<>();

    private WorkerProcess(String name, Path log, Process process) {
        this.name = name;
        this.log = log;
        this.process = process;
    }

    static WorkerProcess start(String name, List<String> command, Map<String, String> environment, Path logs)
            throws IOException {
        Path log = logs.resolve(name + ".log");
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        builder.environment().put("ORDERS_WORKER", name);
        builder.environment().put("LOGGING_FILE_NAME", log.toString());
        builder.redirectError(logs.resolve(name + ".err").toFile());
        WorkerProcess worker = new WorkerProcess(name, log, builder.start());
        Thread reader = new Thread(worker::readOutput, name + "-output");
        reader.setDaemon(true);
        reader.start();
        return worker;
    }

    /** Returns what its charges are signed with. */
    public String name() {
        return name;
    }

    /** Returns the port of its web server, once it is up. */
    public int awaitPort(Deadline deadline) throws InterruptedException {
        try {
            return port.get(deadline.remainingMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            String reason = e.getCause() == null
                    ? "It is still starting"
                    : String.valueOf(e.getCause().getMessage());
            throw new LabException(
                    "Worker %s did not start. %s. Its log is %s, and ends in%n%s"
                            .formatted(name, reason, log, lastLines()),
                    e);
        }
    }

    /** Returns what it said last: the log is gone with the machine where a build runs elsewhere. */
    private String lastLines() {
        try {
            List<String> lines = Files.readAllLines(log);
            return String.join(
                    System.lineSeparator(), lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
        } catch (IOException unreadable) {
            return "(cannot be read: " + unreadable.getMessage() + ")";
        }
    }

    /** Returns whether it takes orders. */
    public boolean isReady() {
        return port.isDone() && !port.isCompletedExceptionally();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Sends SIGKILL: the worker has no chance to return, release or report anything. */
    void kill() {
        process.destroyForcibly();
    }

    /** Lets it shut down in good order, without waiting for that. */
    void requestStop() throws IOException {
        process.getOutputStream().close();
    }

    /** Waits for its shut-down in good order, and kills it only if that takes too long. */
    void awaitStop() {
        if (!hasEnded()) {
            close();
        }
    }

    /** Ends it at once: for runs that are given up. */
    @Override
    public void close() {
        kill();
        hasEnded();
    }

    private boolean hasEnded() {
        try {
            return process.waitFor(STOP_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void readOutput() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(READY)) {
                    port.complete(Integer.valueOf(line.substring(READY.length())));
                }
            }
            port.completeExceptionally(new IOException("It ended with exit code " + process.waitFor()));
        } catch (IOException | InterruptedException e) {
            port.completeExceptionally(e);
        }
    }
}
