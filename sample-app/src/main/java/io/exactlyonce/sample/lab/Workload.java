package io.exactlyonce.sample.lab;

import io.exactlyonce.sample.worker.Order;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * The orders, and the run time of each order's handler. Every third handler outlasts the visibility timeout, at most
 * three and a half times. The workload is the same in every run.
 */
final class Workload {

    private static final int SLOW_EVERY = 3;
    private static final long SEED = 847;

    private final Duration visibilityTimeout;
    private final Map<String, Duration> mailDelays = new LinkedHashMap<>();

    Workload(LabSettings settings) {
        this.visibilityTimeout = settings.visibilityTimeout();
        Random random = new Random(SEED);
        for (int i = 1; i <= settings.orders(); i++) {
            mailDelays.put("order-%04d".formatted(i), i % SLOW_EVERY == 0 ? slow(random) : quick(random));
        }
    }

    List<Order> orders() {
        return mailDelays.keySet().stream().map(id -> new Order(id, 1_999)).toList();
    }

    Set<String> orderIds() {
        return mailDelays.keySet();
    }

    Duration mailDelay(String orderId) {
        return mailDelays.getOrDefault(orderId, Duration.ZERO);
    }

    boolean outlivesWindow(String orderId) {
        return mailDelay(orderId).compareTo(visibilityTimeout) > 0;
    }

    long slowOrders() {
        return mailDelays.keySet().stream().filter(this::outlivesWindow).count();
    }

    private Duration slow(Random random) {
        long millis = visibilityTimeout.toMillis();
        return Duration.ofMillis(millis * 3 / 2 + random.nextLong(millis * 2));
    }

    private Duration quick(Random random) {
        return Duration.ofMillis(50 + random.nextLong(250));
    }
}
