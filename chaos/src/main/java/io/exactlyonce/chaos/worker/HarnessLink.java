package io.exactlyonce.chaos.worker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.stereotype.Component;

/**
 * Tells the harness through standard output that the worker is ready, takes orders from standard input, and shuts the
 * worker down in good order when that ends, which it does too when the harness dies.
 */
@Component
class HarnessLink implements ApplicationListener<ApplicationReadyEvent> {

    private static final String COLLECT_GARBAGE = "collect-garbage ";
    private static final long BEAT_MILLIS = 250;

    @Override
    public void onApplicationEvent(ApplicationReadyEvent ready) {
        Thread orders = new Thread(HarnessLink::takeOrders, "harness-link");
        orders.setDaemon(true);
        orders.start();
        System.out.println("ready");
        Thread beats = new Thread(HarnessLink::beat, "harness-beat");
        beats.setDaemon(true);
        beats.start();
    }

    /** A worker that is silent is paused, by the harness or by the machine. */
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

    private static void takeOrders() {
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

    private static void obey(String order) {
        if (order.startsWith(COLLECT_GARBAGE)) {
            GarbageCollection.last(Duration.ofMillis(Long.parseLong(order.substring(COLLECT_GARBAGE.length()))));
            System.out.println("collected");
        }
    }
}
