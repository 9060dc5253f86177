package io.exactlyonce.claim.postgres.jdbc;

import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Binds one property of all entries as one array parameter; the array's own type lets the driver send it in binary. */
public final class ArrayParameters<T> {

    private final PreparedStatement statement;
    private final List<T> entries;
    private int index;

    /** Binds properties one after the other, the first one at a parameter's index. */
    public ArrayParameters(PreparedStatement statement, int firstIndex, List<T> entries) {
        this.statement = statement;
        this.entries = entries;
        this.index = firstIndex;
    }

    public ArrayParameters<T> text(Function<? super T, @Nullable String> property) throws SQLException {
        return bind("text", String[]::new, property);
    }

    public ArrayParameters<T> uuid(Function<? super T, ?> property) throws SQLException {
        return bind("uuid", Object[]::new, property);
    }

    public ArrayParameters<T> bigint(Function<? super T, Long> property) throws SQLException {
        return bind("int8", Long[]::new, property);
    }

    public ArrayParameters<T> bool(Function<? super T, Boolean> property) throws SQLException {
        return bind("bool", Boolean[]::new, property);
    }

    /** Returns a length as the table's statements take it: in microseconds, as PostgreSQL counts. */
    public static long micros(Duration length) {
        return TimeUnit.MICROSECONDS.convert(length);
    }

    private <V extends @Nullable Object> ArrayParameters<T> bind(
            String type, IntFunction<V[]> array, Function<? super T, ? extends V> property) throws SQLException {
        V[] values = array.apply(entries.size());
        for (int i = 0; i < values.length; i++) {
            values[i] = property.apply(entries.get(i));
        }
        Array bound = statement.getConnection().createArrayOf(type, values);
        statement.setArray(index++, bound);
        return this;
    }
}
