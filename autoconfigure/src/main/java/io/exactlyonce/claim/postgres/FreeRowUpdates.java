package io.exactlyonce.claim.postgres;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.ParameterizedPreparedStatementSetter;

/**
 * Runs one single-row update for each entry, all in one round trip. Rows are locked in key order, so that two batches
 * wait for each other but do not deadlock; and each update finds its row by primary key, whatever the planner knows.
 */
final class FreeRowUpdates {

    private FreeRowUpdates() {}

    /** Returns the entries whose row was updated. */
    static <T, K extends Comparable<K>> List<T> run(
            JdbcTemplate jdbc,
            String sql,
            List<T> entries,
            Function<T, K> key,
            ParameterizedPreparedStatementSetter<T> parameters) {
        if (entries.isEmpty()) {
            return List.of();
        }
        List<T> ordered = entries.stream().sorted(Comparator.comparing(key)).toList();
        int[] counts = jdbc.batchUpdate(sql, ordered, ordered.size(), parameters)[0];
        List<T> updated = new ArrayList<>();
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] > 0) {
                updated.add(ordered.get(i));
            }
        }
        return updated;
    }
}
