package io.exactlyonce.chaos.worker;

import io.exactlyonce.chaos.soak.Gauge;
import io.exactlyonce.chaos.soak.Resources;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.stereotype.Component;

/**
 * Connects a worker with the harness. Reports on standard output that the worker is ready, and takes orders from
 * standard input. When standard input ends, which also happens if the harness dies, shuts the worker down gracefully.
 */
@Component
class HarnessLink implements ApplicationListener<ApplicationReadyEvent> {

    private static final String COLLECT_GARBAGE = "collect-garbage ";
    private static final String MEASURE = "measure ";
    private static final long BEAT_MILLIS = 250;

    private final Operator operator;
    private final Semaphore decisionsDue = new Semaphore(0);

    HarnessLink(Operator operator) {
        this.operator = operator;
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent ready) {
        daemon("harness-link", this::takeOrders);
        System.out.println("ready");
        daemon("harness-beat", HarnessLink::beat);
        daemon("operator", this::decide);
    }

    /** Reports that the worker runs. A silent worker is paused, by the harness or by the machine. */
    private static void beat() {
        try {
            while (true) {
                TimeUnit.MILLISECONDS.sleep(BEAT_MILLIS);
                System.out.println("beat");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Decides on parked keys in a separate thread, so that orders do not wait for a database that does not answer. */
    private void decide() {
        try {
            while (true) {
                decisionsDue.acquire();
                decisionsDue.drainPermits();
                operator.decide();
                System.out.println("decided");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void takeOrders() {
        try {
            BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String order = orders.readLine(); order != null; order = orders.readLine()) {
                obey(order);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            System.exit(0);
        }
    }

    /** Reads the ports of the database, its replica and the SQS server. */
    private static Map<Integer, Gauge> servers(String ports) {
        String[] all = ports.split(" ", -1);
        return Map.of(
                Integer.valueOf(all[0]), Gauge.DATABASE_CONNECTIONS,
                Integer.valueOf(all[1]), Gauge.DATABASE_CONNECTIONS,
                Integer.valueOf(all[2]), Gauge.SQS_CONNECTIONS);
    }

    private void obey(String order) {
        if (order.startsWith(COLLECT_GARBAGE)) {
            GarbageCollection.last(Duration.ofMillis(Long.parseLong(order.substring(COLLECT_GARBAGE.length()))));
            System.out.println("collected");
        } else if (order.equals("decide")) {
            decisionsDue.release();
        } else if (order.startsWith(MEASURE)) {
            System.out.println("measured " + Resources.measure(servers(order.substring(MEASURE.length()))));
        }
    }
}
