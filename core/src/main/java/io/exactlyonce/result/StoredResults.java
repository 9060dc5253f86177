package io.exactlyonce.result;

import io.exactlyonce.StoredResultException;
import io.exactlyonce.boundary.RedactedException;
import io.exactlyonce.boundary.TypeAndPlace;
import io.exactlyonce.claim.ClaimKey;
import java.io.Serializable;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * Writes results as JSON, to be stored with their keys, and reads them. The size is limited, because each later update
 * of a claim's row copies the result. If a result cannot be stored, the claim is completed without it.
 *
 * @param serializer writes and reads results of any size
 * @param maxBytes limit of a result's JSON, in bytes of UTF-8
 */
public record StoredResults(ResultSerializer serializer, long maxBytes) {

    private static final Logger log = LoggerFactory.getLogger(StoredResults.class);

    /**
     * Characters that claim stores reject: NUL, and half of a surrogate pair. A sender's text may contain them, so they
     * are escaped in the JSON.
     */
    private static final Pattern UNSTORABLE = Pattern.compile("[\\p{Cs}\\x00]");

    /** The JSON of a result that is {@code null}. If no result is stored at all, there is no JSON. */
    private static final String NULL = "null";

    private static final ParameterizedTypeReference<Void> NOTHING = ParameterizedTypeReference.forType(Void.class);

    /**
     * Types that do not tell which class to create from JSON. For example, {@code 7L} would be read as an {@code
     * Integer} if the type is {@code Object}.
     */
    private static final Set<Class<?>> OF_ANY_KIND = Set.of(Object.class, Number.class, Serializable.class);

    /**
     * The result of finished work.
     *
     * @param json the result as JSON; {@code null} if it cannot be stored
     * @param readBack the result as it was read from the JSON. The first caller gets this object and not the original,
     *     so that it sees the same result as later callers
     * @param failure why the result cannot be written or read; {@code null} if it can
     */
    public record Kept<T>(
            @Nullable String json,
            @Nullable T readBack,
            @Nullable StoredResultException failure) {

        /**
         * Returns the result that was read back from the JSON.
         *
         * @throws StoredResultException if the result cannot be written or read
         */
        public @Nullable T get() {
            if (failure != null) {
                throw failure;
            }
            return readBack;
        }
    }

    /**
     * Returns a result as JSON.
     *
     * @throws RuntimeException if the result cannot be written, or is too large
     */
    public String write(Object result) {
        return requireFit(json(result, result.getClass()));
    }

    private String json(Object result, Type type) {
        return UNSTORABLE
                .matcher(type instanceof Class ? serializer.toJson(result) : serializer.toJson(result, type))
                .replaceAll(found -> "\\\\u%04x".formatted((int) found.group().charAt(0)));
    }

    private String requireFit(String json) {
        int bytes = json.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > maxBytes) {
            throw new TooLarge(
                    ("The result (%d bytes of JSON) is larger than exactly-once.claim.max-result-size (%d bytes): return less,"
                                    + " for example an id, or raise the limit")
                            .formatted(bytes, maxBytes));
        }
        return json;
    }

    /**
     * Returns a result as JSON; {@code null} if it cannot be stored. Does not throw: the work is done, so its claim
     * must be completed anyway.
     */
    public @Nullable String writeIfPossible(ClaimKey key, Object result) {
        return keep(key, result, NOTHING).json();
    }

    /**
     * Writes a result as JSON, and reads it back as the type that the caller requests. Does not throw: the work is
     * done, so its claim must be completed anyway. If writing or reading fails, the returned object contains the
     * failure instead. If the result is too large to be stored, the returned object contains only the result that was
     * read back.
     */
    public <T> Kept<T> keep(ClaimKey key, @Nullable Object result, ParameterizedTypeReference<T> type) {
        T readBack = null;
        boolean isReadBack = false;
        try {
            String json = result == null ? NULL : json(result, type.getType());
            readBack = fromJson(json, type);
            isReadBack = true;
            return new Kept<>(requireFit(json), readBack, null);
        } catch (Throwable unfit) {
            log.warn("The result for {} cannot be kept as JSON ({}); completing without it", key, reason(unfit));
            log.debug("Why the result for {} cannot be kept", key, RedactedException.of(unfit));
            return new Kept<>(
                    null,
                    readBack,
                    isReadBack
                            ? null
                            : unreadable(
                                    key,
                                    "its result cannot be written as JSON and read back as %s; return a type that can"
                                            .formatted(type.getType().getTypeName()),
                                    RedactedException.of(unfit)));
        }
    }

    /**
     * Returns why a result cannot be stored. The serializer's own text is left out, because it may quote what a sender
     * has written.
     */
    private static String reason(Throwable unfit) {
        return unfit instanceof TooLarge ? String.valueOf(unfit.getMessage()) : TypeAndPlace.of(unfit);
    }

    /** Thrown if a result is too large. Its message quotes no content, so it may be logged. */
    private static final class TooLarge extends IllegalArgumentException {

        private static final long serialVersionUID = 1;

        TooLarge(String message) {
            super(message);
        }
    }

    /**
     * Rejects a type whose values would be read back differently. Some unsuitable types are accepted, because their
     * problems only show when a value is written.
     *
     * @throws IllegalArgumentException if the type is unsuitable
     */
    public void requireReadable(Type type) {
        String reason = whyUnreadable(type);
        if (reason != null) {
            throw new IllegalArgumentException(
                    "The result type %s cannot be stored for later callers: %s".formatted(type.getTypeName(), reason));
        }
    }

    /**
     * Returns why values of a type cannot be read back; {@code null} if they can. The types of a list's elements are
     * checked here, because the serializer does not check them.
     */
    private @Nullable String whyUnreadable(Type type) {
        if (type instanceof GenericArrayType array) {
            return whyUnreadable(array.getGenericComponentType());
        }
        if (type instanceof WildcardType some) {
            return whyUnreadable(some.getUpperBounds()[0]);
        }
        if (type instanceof TypeVariable<?> variable) {
            return "the type variable %s has no value here; name its class".formatted(variable.getName());
        }
        if (type instanceof ParameterizedType generic) {
            for (Type argument : generic.getActualTypeArguments()) {
                String reason = whyUnreadable(argument);
                if (reason != null) {
                    return reason;
                }
            }
            return serializer.whyUnreadable(type);
        }
        return type instanceof Class<?> own ? whyUnreadable(own) : serializer.whyUnreadable(type);
    }

    private @Nullable String whyUnreadable(Class<?> type) {
        Class<?> element = type;
        while (element.isArray()) {
            element = element.getComponentType();
        }
        if (isVoid(element) || element.isPrimitive()) {
            return null;
        }
        if (element.getTypeParameters().length > 0) {
            return "%s does not state its type arguments, so that its elements would be read back as maps; name them, as in new ParameterizedTypeReference<List<Line>>() {}"
                    .formatted(element.getName());
        }
        if (OF_ANY_KIND.contains(element)) {
            return "%s does not say what its values are read back as; name their class, such as Long"
                    .formatted(element.getName());
        }
        return serializer.whyUnreadable(element);
    }

    /**
     * Returns a stored result as the type that the caller requests.
     *
     * @throws StoredResultException if no result is stored, or if it does not fit the type
     */
    public <T> @Nullable T read(ClaimKey key, @Nullable String json, ParameterizedTypeReference<T> type) {
        if (isVoid(type.getType())) {
            return null;
        }
        if (json == null) {
            throw unreadable(
                    key,
                    "no result was kept with it: it was too large, or could not be written (see the log of that time)",
                    null);
        }
        try {
            return fromJson(json, type);
        } catch (RuntimeException unfit) {
            throw unreadable(
                    key,
                    "its stored result does not fit %s; ask for the type that the key was completed with"
                            .formatted(type.getType().getTypeName()),
                    RedactedException.of(unfit));
        }
    }

    private static boolean isVoid(Type type) {
        return type == Void.class || type == void.class;
    }

    @SuppressWarnings(
            "unchecked") // The serializer makes what the type says; a primitive's class has the type of its wrapper.
    private <T> @Nullable T fromJson(String json, ParameterizedTypeReference<T> type) {
        if (isVoid(type.getType())) {
            return null;
        }
        Class<?> raw = ResolvableType.forType(type.getType()).toClass();
        return (T) ClassUtils.resolvePrimitiveIfNecessary(raw).cast(serializer.fromJson(json, type.getType()));
    }

    private static StoredResultException unreadable(ClaimKey key, String problem, @Nullable Throwable cause) {
        return new StoredResultException(key.scope(), key.keyHash(), problem, cause);
    }
}
