package io.exactlyonce.sample.lab;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The store of the exactly-once side's claims. Orders are always rows of PostgreSQL. */
public enum Store {
    POSTGRESQL,
    DYNAMODB;

    /**
     * Returns the store of a name.
     *
     * @throws IllegalArgumentException if no store has this name
     */
    public static Store named(String name) {
        return Arrays.stream(values())
                .filter(store -> store.label().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "--store (%s) must be one of: %s".formatted(name, Store.labels())));
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    private static String labels() {
        return Arrays.stream(values()).map(Store::label).collect(Collectors.joining(", "));
    }
}
