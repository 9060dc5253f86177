package io.exactlyonce.result;

import java.lang.reflect.Type;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A result serializer that writes and reads with functions of the test. */
public record TestResults(Function<Object, String> writer, BiFunction<String, Type, @Nullable Object> reader)
        implements ResultSerializer {

    /** A serializer that writes the {@code toString()} of a result, and reads every text as {@code null}. */
    public static final ResultSerializer NONE = reading((json, type) -> null);

    public static ResultSerializer reading(BiFunction<String, Type, @Nullable Object> reader) {
        return new TestResults(Object::toString, reader);
    }

    /** Returns stored results without a size limit. Reading a result returns {@code null}. */
    public static StoredResults writing(Function<Object, String> writer) {
        return new StoredResults(new TestResults(writer, (json, type) -> null), Long.MAX_VALUE);
    }

    @Override
    public String toJson(Object result) {
        return writer.apply(result);
    }

    @Override
    public @Nullable Object fromJson(String json, Type type) {
        return reader.apply(json, type);
    }
}
