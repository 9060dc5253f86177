package io.exactlyonce.result;

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
     * Writes a result whose type has type arguments. The names of its elements' subtypes are written only if the type
     * of the elements is known.
     *
     * @throws RuntimeException if the result cannot be written
     */
    default String toJson(Object result, Type type) {
        return toJson(result);
    }

    /**
     * Reads a result. The type alone decides which object is made: the text cannot name a class.
     *
     * @throws RuntimeException if the text does not fit the type
     */
    @Nullable Object fromJson(String json, Type type);

    /**
     * Returns why no text can be read as a type; {@code null} if some texts can. For example, the type is an interface
     * that names no implementation. The reason quotes no result.
     */
    default @Nullable String whyUnreadable(Type type) {
        return null;
    }
}
