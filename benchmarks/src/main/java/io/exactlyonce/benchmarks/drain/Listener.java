package io.exactlyonce.benchmarks.drain;

import io.exactlyonce.benchmarks.worker.Protection;
import java.util.ArrayList;
import java.util.List;

/**
 * A listener that takes part.
 *
 * @param protection its protection against duplicates
 * @param name its name in tables
 * @param concurrency the most messages at a time
 * @param properties additional properties of Spring Boot, as {@code name=value}
 */
record Listener(Protection protection, String name, int concurrency, List<String> properties) {

    static Listener of(Protection protection, int concurrency) {
        return new Listener(protection, protection.label(), concurrency, List.of());
    }

    Listener named(String other) {
        return new Listener(protection, other, concurrency, properties);
    }

    Listener with(String property) {
        List<String> more = new ArrayList<>(properties);
        more.add(property);
        return new Listener(protection, name, concurrency, more);
    }

    List<String> arguments() {
        List<String> all = new ArrayList<>(properties);
        all.add("spring.cloud.aws.sqs.listener.max-concurrent-messages=" + concurrency);
        return all;
    }
}
