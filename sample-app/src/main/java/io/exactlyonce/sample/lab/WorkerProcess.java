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

/** A worker in a separate JVM. The JVM ends when its standard input ends, so it cannot outlive the lab. */
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

    /** Returns the name with which the worker signs its charges. */
    public String name() {
        return name;
    }

    /** Returns the port of the worker's web server, as soon as the server runs. */
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

    /** Returns the last lines of the worker's log, because the log may be deleted together with a build's machine. */
    private String lastLines() {
        try {
            List<String> lines = Files.readAllLines(log);
            return String.join(
                    System.lineSeparator(), lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
        } catch (IOException unreadable) {
            return "(cannot be read: " + unreadable.getMessage() + ")";
        }
    }

    /** Returns whether the worker takes orders. */
    public boolean isReady() {
        return port.isDone() && !port.isCompletedExceptionally();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Sends SIGKILL. The worker cannot return, release or report anything. */
    void kill() {
        process.destroyForcibly();
    }

    /** Requests a graceful shutdown without waiting for it. */
    void requestStop() throws IOException {
        process.getOutputStream().close();
    }

    /** Waits for the graceful shutdown, and kills the worker only if it takes too long. */
    void awaitStop() {
        if (!hasEnded()) {
            close();
        }
    }

    /** Ends the worker at once, for runs that are given up. */
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
