package io.exactlyonce.chaos.soak;

import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A worker's gauges at one time.
 *
 * @param values the values, without gauges that the machine does not report
 */
public record Sample(Map<Gauge, Long> values) {

    public Sample {
        values = Map.copyOf(values);
    }

    /** Reads the text of {@link #toString}. */
    public static Sample parse(String text) {
        Map<Gauge, Long> values = new EnumMap<>(Gauge.class);
        for (String pair : text.trim().split(" ", -1)) {
            int equals = pair.indexOf('=');
            values.put(Gauge.valueOf(pair.substring(0, equals)), Long.parseLong(pair.substring(equals + 1)));
        }
        return new Sample(values);
    }

    @Override
    public String toString() {
        return new EnumMap<>(values)
                .entrySet().stream()
                        .map(entry -> entry.getKey() + "=" + entry.getValue())
                        .collect(Collectors.joining(" "));
    }
}
