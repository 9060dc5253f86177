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
     * Writes a result whose type has type arguments: the names of its elements' subtypes are written only where the type of
     * the elements is known.
     *
     * @throws RuntimeException if the result cannot be written
     */
    default String toJson(Object result, Type type) {
        return toJson(result);
    }

    /**
     * Reads a result. The type alone decides what is made: the text cannot name a class.
     *
     * @throws RuntimeException if the text does not fit the type
     */
    @Nullable Object fromJson(String json, Type type);

    /**
     * Returns the reason why no text can be read as a type, such as an interface of which it does not say the
     * implementation; {@code null} if some texts can. It quotes no result.
     */
    default @Nullable String whyUnreadable(Type type) {
        return null;
    }
}
