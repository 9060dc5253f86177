package io.exactlyonce.hostile;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.boundary.Boundary;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/**
 * An application with six listeners and little memory, in a JVM of its own: two of them have a hostile sender. It
 * writes its state to a file, twenty times a second, and reads its orders from other files.
 */
@EnableAutoConfiguration
class CrowdedApplication implements InitializingBean, DisposableBean {

    static final int OTHERS = 4;

    /** The key whose handler ends when the file {@link #RELEASE} is there. */
    static final String SLOW = "slow";

    static final String RELEASE = "release";

    private final Path directory;
    private final MeterRegistry meters;
    private final CountDownLatch release = new CountDownLatch(1);
    private final AtomicInteger attacked = new AtomicInteger();
    private final AtomicInteger grouped = new AtomicInteger();
    private final AtomicLongArray handled = new AtomicLongArray(OTHERS);
    private final ScheduledExecutorService reporter = Executors.newSingleThreadScheduledExecutor();

    CrowdedApplication(@Value("${test.directory}") Path directory, MeterRegistry meters) {
        this.directory = directory;
        this.meters = meters;
    }

    @ExactlyOnceListener(id = "attacked", queueNames = "${test.attacked}", key = "#order['id']")
    void attacked(Map<String, Object> order, Claim claim) throws InterruptedException {
        if (SLOW.equals(order.get("id"))) {
            release.await();
        }
        claim.ensureHeld();
        attacked.incrementAndGet();
    }

    @ExactlyOnceListener(id = "grouped", queueNames = "${test.grouped}", key = "#order['id']")
    void grouped(Map<String, Object> order) {
        grouped.incrementAndGet();
    }

    @ExactlyOnceListener(id = "other0", queueNames = "${test.other0}")
    void other0(String order) {
        handled.incrementAndGet(0);
    }

    @ExactlyOnceListener(id = "other1", queueNames = "${test.other1}")
    void other1(String order) {
        handled.incrementAndGet(1);
    }

    @ExactlyOnceListener(id = "other2", queueNames = "${test.other2}")
    void other2(List<String> orders) {
        handled.addAndGet(2, orders.size());
    }

    @ExactlyOnceListener(id = "other3", queueNames = "${test.other3}")
    void other3(String order) {
        handled.incrementAndGet(3);
    }

    @Override
    public void afterPropertiesSet() {
        reporter.scheduleWithFixedDelay(this::report, 50, 50, TimeUnit.MILLISECONDS);
    }

    private void report() {
        if (Files.exists(directory.resolve(RELEASE))) {
            release.countDown();
        }
        StringBuilder report = new StringBuilder();
        report.append("waiting=").append(waiting()).append('\n');
        report.append("received=").append(received()).append('\n');
        report.append("attacked=").append(attacked.get()).append('\n');
        report.append("grouped=").append(grouped.get()).append('\n');
        report.append("crashes=").append(Boundary.crashes()).append('\n');
        for (int other = 0; other < OTHERS; other++) {
            report.append("other")
                    .append(other)
                    .append('=')
                    .append(handled.get(other))
                    .append('\n');
        }
        try {
            Path part = Files.writeString(directory.resolve("report.part"), report);
            Files.move(part, directory.resolve("report"), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private long received() {
        return (long) meters.find("exactly.once.receives").tag("listener", "attacked").counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    private long waiting() {
        return (long) meters.find("exactly.once.waiting").gauges().stream()
                .mapToDouble(Gauge::value)
                .sum();
    }

    @Override
    public void destroy() {
        reporter.shutdownNow();
    }

    /** The child's main method. */
    public static void main(String[] arguments) {
        SpringApplication.run(CrowdedApplication.class, arguments);
    }
}
