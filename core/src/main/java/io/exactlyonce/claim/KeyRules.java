package io.exactlyonce.claim;

import io.exactlyonce.MissingKeyException;
import io.exactlyonce.UnusableKeyException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Checks values that are used as idempotency keys. Refuses a {@code double}, for example, because rounding could give
 * two messages the same key. Refuses most objects, because their text may differ in each JVM.
 */
public final class KeyRules {

    private KeyRules() {}

    /**
     * Converts a value to a key. A text of more than {@value ClaimKey#MAX_LENGTH} characters is replaced by its
     * SHA-256.
     *
     * @param source where the value comes from, for the exception's message
     * @throws MissingKeyException if the value is {@code null} or blank
     * @throws UnusableKeyException if the value cannot be a key
     */
    public static String toKey(String source, @Nullable Object value) {
        if (value == null) {
            throw new MissingKeyException("%s is null; every message needs its own key".formatted(source));
        }
        if (isFloating(value.getClass())) {
            throw new UnusableKeyException(
                    "%s is a %s, whose text is rounded, so that two numbers may be one key; send text or an integer, or declare the property as a long, a BigDecimal or a String"
                            .formatted(source, value.getClass().getName()));
        }
        String key = text(source, value);
        if (key.isBlank()) {
            throw new MissingKeyException("%s is blank; every message needs its own key".formatted(source));
        }
        unstorable(key).ifPresent(what -> {
            throw new UnusableKeyException("%s contains %s; send a key without it".formatted(source, what));
        });
        return key.length() > ClaimKey.MAX_LENGTH ? ClaimKey.sha256(key) : key;
    }

    /**
     * Converts a value to a fingerprint text, by which messages with the same key are compared. The value may be a
     * list, whose entries may be {@code null}.
     *
     * @param source where the value comes from, for the exception's message
     * @throws UnusableKeyException if the value is {@code null}, or if different values have the same text, as with an
     *     object whose text is its class
     */
    public static String toFingerprint(String source, @Nullable Object value) {
        if (value == null) {
            throw new UnusableKeyException(
                    "%s is null; name what all messages of a key have in common".formatted(source));
        }
        if (!(value instanceof List<?> list)) {
            return text(source, value);
        }
        StringBuilder all = new StringBuilder();
        for (Object entry : list) {
            String text = entry == null ? "" : toFingerprint(source, entry);
            all.append(entry == null ? -1 : text.length()).append(':').append(text);
        }
        return all.toString();
    }

    /**
     * Checks a scope and a key that a program or an operator wrote, and returns both as one key.
     *
     * @throws IllegalArgumentException if the scope is not usable
     * @throws UnusableKeyException if the key is not usable
     */
    public static ClaimKey key(String scope, String key) {
        unstorable(scope).ifPresent(what -> {
            throw new IllegalArgumentException("scope contains %s; remove it".formatted(what));
        });
        return new ClaimKey(scope, toKey("The key", key));
    }

    /**
     * Looks for characters that a store cannot keep, such as NUL. Describes the first one, for error messages. Empty if
     * there is none.
     */
    public static Optional<String> unstorable(String text) {
        if (text.indexOf('\0') >= 0) {
            return Optional.of("a NUL character, which not every claim store can keep");
        }
        return isText(text) ? Optional.empty() : Optional.of("half of a surrogate pair, which is not text");
    }

    /** Returns whether each surrogate in a text is part of a pair. */
    private static boolean isText(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                return StandardCharsets.UTF_8.newEncoder().canEncode(text);
            }
        }
        return true;
    }

    /**
     * Returns whether {@link #toKey} accepts values of a class. Pass {@code Long.class}, and not {@code long.class}.
     */
    public static boolean canBeKey(Class<?> type) {
        return canBeCompared(type) && !isFloating(type);
    }

    /**
     * Returns whether {@link #toFingerprint} accepts values of a class. Pass {@code Long.class}, and not
     * {@code long.class}. Returns true for lists, although {@link #toFingerprint} may refuse an entry of the list.
     */
    public static boolean canBeFingerprint(Class<?> type) {
        return canBeCompared(type) || List.class.isAssignableFrom(type);
    }

    /**
     * Returns whether a class is {@code Double} or {@code Float}. Such numbers are rounded, so different numbers can
     * become equal: as a {@code double}, {@code 1e400} and {@code 1e500} are both infinite.
     */
    public static boolean isFloating(Class<?> type) {
        return type == Double.class || type == Float.class;
    }

    private static boolean canBeCompared(Class<?> type) {
        return CharSequence.class.isAssignableFrom(type)
                || Number.class.isAssignableFrom(type)
                || UUID.class == type
                || Enum.class.isAssignableFrom(type);
    }

    /**
     * Converts a value to text. Only types whose text identifies the value are accepted. The text of other objects may
     * contain a memory address, which differs in each JVM.
     */
    private static String text(String source, Object value) {
        if (value instanceof Enum<?> constant) {
            return constant.name();
        }
        if (value instanceof BigDecimal number) {
            return plain(number);
        }
        if (canBeCompared(value.getClass())) {
            return value.toString();
        }
        throw new UnusableKeyException("%s is a %s; it must be text, a number, a UUID or an enum constant"
                .formatted(source, value.getClass().getName()));
    }

    /**
     * Returns the same text for equal numbers, such as 1.5 and 1.50. Whole numbers get the same text as a {@code long}.
     * Very large and very small numbers get an exponent, so that the text stays short.
     */
    private static String plain(BigDecimal number) {
        BigDecimal shortest = number.stripTrailingZeros();
        return Math.abs((long) shortest.scale()) <= ClaimKey.MAX_LENGTH
                ? shortest.toPlainString()
                : shortest.toString();
    }
}
