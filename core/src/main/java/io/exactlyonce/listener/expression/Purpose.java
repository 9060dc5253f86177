package io.exactlyonce.listener.expression;

import java.util.Locale;

/** The annotation's attribute to which an expression belongs. */
public enum Purpose {
    KEY,
    FINGERPRINT;

    /** Returns the attribute's name. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
