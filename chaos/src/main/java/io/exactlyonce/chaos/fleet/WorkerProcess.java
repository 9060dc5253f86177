package io.exactlyonce.chaos.fleet;

import io.exactlyonce.chaos.cluster.Signal;
import io.exactlyonce.chaos.soak.Sample;
import io.exactlyonce.chaos.worker.WorkerApplication;
import io.exactlyonce.servers.LocalPostgres;
import io.exactlyonce.servers.LocalSqs;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** One worker's JVM. The JVM ends when its standard input ends, so it cannot outlive the harness. */
final class WorkerProcess {

    private static final String MEASURED = "measured ";

    private final String name;
    private final Process process;
    private final CountDownLatch ready = new CountDownLatch(1);
    private final Semaphore decided = new Semaphore(0);
    private final BlockingQueue<Sample> samples = new LinkedBlockingQueue<>();
    private volatile long heard;

    private WorkerProcess(String name, Process process) {
        this.name = name;
        this.process = process;
    }

    static WorkerProcess start(String name, Launch launch, Wires wires, List<String> mode) throws IOException {
        return start(name, launch, wires, mode, launch.java()::shared);
    }

    /** Starts a worker that writes an archive of its classes when it ends. All later workers use the archive. */
    static WorkerProcess startArchiving(Launch launch, Wires wires) throws IOException {
        return start("archive", launch, wires, List.of(), launch.java()::archiving);
    }

    private static WorkerProcess start(String name, Launch launch, Wires wires, List<String> mode, JavaCommand java)
            throws IOException {
        Path logs = launch.logs();
        List<String> arguments = arguments(name, launch, wires, logs.resolve(name + ".log"));
        arguments.addAll(mode);
        ProcessBuilder builder = new ProcessBuilder(java.of(WorkerApplication.class, "-Xmx192m", arguments))
                .redirectError(Redirect.to(logs.resolve(name + ".err").toFile()));
        builder.environment().putAll(launch.clocks().environment(name));
        // Other users can read a process's arguments, but not its environment.
        builder.environment().put("SPRING_DATASOURCE_PASSWORD", LocalPostgres.password());
        builder.environment()
                .put(
                        "SPRING_CLOUD_AWS_SQS_ENDPOINT",
                        LocalSqs.endpoint(wires.sqs().port()).toString());
        WorkerProcess worker = new WorkerProcess(name, launch.guard().watch(builder.start()));
        Thread reader = new Thread(worker::readOutput, name + "-output");
        reader.setDaemon(true);
        reader.start();
        return worker;
    }

    private interface JavaCommand {
        List<String> of(Class<?> main, String heap, List<String> arguments);
    }

    private static List<String> arguments(String name, Launch launch, Wires wires, Path log) {
        Addresses addresses = launch.addresses();
        List<String> arguments = new ArrayList<>(List.of(
                "--spring.config.name=chaos-worker",
                "--chaos.name=" + name,
                "--chaos.partner=" + addresses.partner(),
                "--chaos.recorder=" + addresses.recorder(),
                "--chaos.points=" + addresses.points(),
                "--spring.cloud.aws.credentials.access-key=" + name,
                "--spring.cloud.aws.credentials.secret-key=secret",
                "--logging.file.name=" + log));
        arguments.addAll(launch.claims()
                .workerArguments(wires.database().port(), wires.replica().port()));
        return arguments;
    }

    String name() {
        return name;
    }

    boolean awaitReady(long millis) throws InterruptedException {
        return ready.await(millis, TimeUnit.MILLISECONDS);
    }

    boolean isReady() {
        return ready.getCount() == 0 && process.isAlive();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    void signal(Signal signal) {
        signal.send(process.pid());
    }

    void kill() {
        process.destroyForcibly();
    }

    /** Sends an order to the worker. Does nothing if the worker is gone. */
    void order(String order) {
        try {
            Writer orders = process.outputWriter();
            orders.write(order + "\n");
            orders.flush();
        } catch (IOException e) {
            // The worker was killed meanwhile.
        }
    }

    /** Makes the worker's operator decide on parked keys. Returns whether the operator finished in time. */
    boolean decide(long millis) throws InterruptedException {
        decided.drainPermits();
        order("decide");
        return decided.tryAcquire(millis, TimeUnit.MILLISECONDS);
    }

    /** Measures the worker's resources; empty if the worker does not answer in time. */
    Optional<Sample> measure(Wires wires, long millis) throws InterruptedException {
        samples.clear();
        order("measure %d %d %d"
                .formatted(
                        wires.database().port(),
                        wires.replica().port(),
                        wires.sqs().port()));
        return Optional.ofNullable(samples.poll(millis, TimeUnit.MILLISECONDS));
    }

    /** Requests a graceful shutdown without waiting for it. */
    void requestStop() {
        try {
            process.outputWriter().close();
        } catch (IOException e) {
            // The worker is already gone.
        }
    }

    /** Returns for how long the worker has been silent. */
    Duration silence() {
        return Duration.ofNanos(System.nanoTime() - heard);
    }

    boolean awaitEnd(long millis) throws InterruptedException {
        return process.waitFor(millis, TimeUnit.MILLISECONDS);
    }

    private void readOutput() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                heard = System.nanoTime();
                if (line.equals("ready")) {
                    ready.countDown();
                } else if (line.equals("decided")) {
                    decided.release();
                } else if (line.startsWith(MEASURED)) {
                    samples.add(Sample.parse(line.substring(MEASURED.length())));
                }
            }
        } catch (IOException e) {
            if (process.isAlive()) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
