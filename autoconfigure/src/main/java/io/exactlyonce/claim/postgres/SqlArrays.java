package io.exactlyonce.claim.postgres;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Binds one property of all entries as one array parameter. */
final class SqlArrays {

    private SqlArrays() {}

    static <T> void bind(
            PreparedStatement statement,
            int index,
            String type,
            List<T> entries,
            Function<? super T, ? extends @Nullable Object> property)
            throws SQLException {
        Object[] values = entries.stream().map(property).toArray();
        statement.setArray(index, statement.getConnection().createArrayOf(type, values));
    }
}
