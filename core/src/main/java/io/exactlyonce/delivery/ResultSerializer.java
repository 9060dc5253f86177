package io.exactlyonce.delivery;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** Handlers' results as JSON. */
public interface ResultSerializer {

    /**
     * Writes a result.
     *
     * @throws RuntimeException if the result cannot be written
     */
    String toJson(Object result);

    /**
     * Reads a result. The type alone decides what is made: the text cannot name a class.
     *
     * @throws RuntimeException if the text does not fit the type
     */
    @Nullable Object fromJson(String json, Type type);
}
