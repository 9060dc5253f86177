package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.cluster.ClaimServer;
import io.exactlyonce.chaos.cluster.FaultLog;
import io.exactlyonce.chaos.cluster.JavaProgram;
import io.exactlyonce.chaos.cluster.ProcessGuard;
import io.exactlyonce.chaos.cluster.SqsServer;
import io.exactlyonce.chaos.cluster.SqsWire;
import io.exactlyonce.chaos.cluster.WallClocks;
import io.exactlyonce.chaos.fault.KillPoints;
import io.exactlyonce.chaos.fault.Targets;
import io.exactlyonce.chaos.fleet.Addresses;
import io.exactlyonce.chaos.fleet.Fleet;
import io.exactlyonce.chaos.fleet.Launch;
import io.exactlyonce.chaos.history.Recorder;
import io.exactlyonce.chaos.history.RecorderServer;
import io.exactlyonce.chaos.partner.PartnerServer;
import io.exactlyonce.chaos.queue.QueueDisorder;
import io.exactlyonce.chaos.queue.Queues;
import io.exactlyonce.chaos.queue.SqsHistory;
import io.exactlyonce.chaos.worker.Point;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Everything that is part of a run.
 *
 * @param queues the harness's own connection to SQS
 * @param history records the traffic on the wire to SQS
 * @param disorder disturbs this traffic
 */
record ChaosEnvironment(Targets targets, Recorder recorder, Queues queues, SqsHistory history, QueueDisorder disorder) {

    private static final Duration WINDOW = Duration.ofSeconds(4);
    private static final double DUPLICATES = 0.05;

    /** Starts everything, without waiting for the workers. Everything that must be stopped is added to the clean-up. */
    static ChaosEnvironment open(Form form, Path directory, Cleanup cleanup)
            throws IOException, SQLException, InterruptedException {
        JavaProgram java = new JavaProgram(Files.createDirectory(directory.resolve("tmp")));
        Path logs = Files.createDirectory(directory.resolve("logs"));
        Recorder recorder = cleanup.add(new Recorder(directory.resolve("history.jsonl")));
        ProcessGuard guard = cleanup.add(ProcessGuard.start());
        FaultLog log = new FaultLog(recorder);
        ClaimServer claims = cleanup.add(form.store().start(form, directory, logs, guard));
        SqsServer sqs =
                cleanup.add(SqsServer.start(java, logs.resolve("sqs.log").toFile(), guard));
        Queues queues = cleanup.add(new Queues(sqs.port(), recorder));
        queues.create(WINDOW);
        KillPoints points = cleanup.add(new KillPoints());
        QueueDisorder disorder = new QueueDisorder(form.seed(), DUPLICATES);
        SqsHistory history = new SqsHistory(recorder, (worker, keys) -> stopIfKilled(points, worker), disorder);
        SqsWire wire = cleanup.add(new SqsWire(sqs.port(), history));
        Addresses addresses = new Addresses(
                cleanup.add(new PartnerServer(recorder)).address(),
                cleanup.add(new RecorderServer(recorder)).port(),
                points.port(),
                wire.port());
        Launch launch = new Launch(addresses, claims, java, new WallClocks(directory), logs, guard);
        Fleet.archiveClasses(launch);
        Fleet fleet = cleanup.add(Fleet.start(form.scale().workers(), launch, log));
        points.killWith(worker -> fleet.of(worker).ifPresent(slot -> slot.kill()));
        return new ChaosEnvironment(new Targets(fleet, claims, sqs, points, log), recorder, queues, history, disorder);
    }

    private static void stopIfKilled(KillPoints points, String worker) {
        if (points.reached(worker, Point.BEFORE_ACKNOWLEDGE)) {
            throw new IllegalStateException(worker + " was killed before its request reached SQS");
        }
    }
}
