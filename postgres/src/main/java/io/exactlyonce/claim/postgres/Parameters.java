package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Binds a statement's parameters in order. */
public final class Parameters {

    private final PreparedStatement statement;
    private int bound;

    public Parameters(PreparedStatement statement) {
        this.statement = statement;
    }

    public void values(@Nullable Object... values) throws SQLException {
        for (Object value : values) {
            statement.setObject(++bound, value);
        }
    }

    /** Binds an array parameter with one text for each entry. */
    <E> void texts(List<E> entries, Function<? super E, @Nullable String> property) throws SQLException {
        array("text", new String[entries.size()], entries, property);
    }

    <E> void uuids(List<E> entries, Function<? super E, UUID> property) throws SQLException {
        array("uuid", new Object[entries.size()], entries, property);
    }

    public <E> void longs(List<E> entries, Function<? super E, Long> property) throws SQLException {
        array("int8", new Long[entries.size()], entries, property);
    }

    <E> void booleans(List<E> entries, Function<? super E, Boolean> property) throws SQLException {
        array("bool", new Boolean[entries.size()], entries, property);
    }

    public <E> void keys(List<E> entries, Function<? super E, ClaimKey> key) throws SQLException {
        texts(entries, each -> key.apply(each).scope());
        texts(entries, each -> key.apply(each).key());
    }

    private <E, V extends @Nullable Object> void array(
            String type, V[] values, List<E> entries, Function<? super E, ? extends V> property) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            values[i] = property.apply(entries.get(i));
        }
        statement.setArray(++bound, statement.getConnection().createArrayOf(type, values));
    }
}
