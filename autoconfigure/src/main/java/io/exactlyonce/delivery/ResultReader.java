package io.exactlyonce.delivery;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** Reads results that were stored as JSON. */
@FunctionalInterface
public interface ResultReader {

    /**
     * Reads a result. The type alone decides what is made: the text cannot name a class.
     *
     * @throws RuntimeException if the text does not fit the type
     */
    @Nullable Object fromJson(String json, Type type);
}
