package io.exactlyonce.sample.live;

import io.exactlyonce.sample.lab.Deadline;
import io.exactlyonce.sample.lab.Metrics;
import io.exactlyonce.sample.lab.WorkerProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads {@code /actuator/prometheus} of the workers that use the library, as monitoring would. */
final class EngineMeters {

    private static final Logger log = LoggerFactory.getLogger(EngineMeters.class);

    private static final String CLAIMS = "exactly_once_claims_total";
    private static final String RENEWALS = "exactly_once_renewals_total";
    private static final String SUCCEEDED = "result=\"succeeded\"";

    private final Map<String, Metrics> ofAll = new HashMap<>();

    /** The values at the last reset, which are subtracted from later values. */
    private volatile Collection<Metrics> before = ofAll.values();

    /** Counts from now on. */
    void reset(List<WorkerProcess> workers) throws InterruptedException {
        before = scrape(workers).values();
    }

    /** Reads these workers' meters, and adds the last values of other workers. */
    Engine read(List<WorkerProcess> workers) throws InterruptedException {
        Map<String, Metrics> living = scrape(workers);
        ofAll.putAll(living);
        return engine(living.values());
    }

    private static Map<String, Metrics> scrape(List<WorkerProcess> workers) throws InterruptedException {
        Map<String, Metrics> living = new HashMap<>();
        for (WorkerProcess worker : workers) {
            try {
                living.put(worker.name(), Metrics.scrape(worker.awaitPort(Deadline.in(Duration.ZERO))));
            } catch (IOException killedMeanwhile) {
                log.debug("No metrics from {}", worker.name(), killedMeanwhile);
            }
        }
        return living;
    }

    private Engine engine(Collection<Metrics> living) {
        return new Engine(
                sum(CLAIMS, "outcome=\"acquired\""),
                sum(CLAIMS, "outcome=\"already_completed\""),
                sum(CLAIMS, "outcome=\"held_elsewhere\""),
                sum(CLAIMS, "outcome=\"mismatch\""),
                sum(RENEWALS, SUCCEEDED, "target=\"window\""),
                sum(RENEWALS, SUCCEEDED, "target=\"lease\""),
                sum("exactly_once_takeovers_total"),
                max(living, "exactly_once_window_utilization_ratio"),
                max(living, "exactly_once_window_seconds"),
                max(living, "exactly_once_window_recommended_seconds", "rule=\"renewed\""),
                max(living, "exactly_once_replica_lag_seconds"));
    }

    private long sum(String meter, String... labels) {
        return Math.round(values(ofAll.values(), meter, labels).sum()
                - values(before, meter, labels).sum());
    }

    private static double max(Collection<Metrics> workers, String meter, String... labels) {
        return values(workers, meter, labels).filter(Double::isFinite).max().orElse(0);
    }

    private static DoubleStream values(Collection<Metrics> workers, String meter, String... labels) {
        return workers.stream().flatMapToDouble(metrics -> metrics.values(meter, labels));
    }
}
