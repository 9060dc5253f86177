package io.exactlyonce.listener.expression;

import java.util.Locale;

/** The attribute of the annotation that has an expression. */
public enum Purpose {
    KEY,
    FINGERPRINT;

    /** Returns the attribute's name. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
