package io.exactlyonce.sample.lab;

/** The two ways to handle the same orders. */
public enum Kind {
    NAIVE("naive"),
    EXACTLY_ONCE("exactly-once");

    private final String label;

    Kind(String label) {
        this.label = label;
    }

    /** Returns the name of the side's worker profile, queue and column. */
    public String label() {
        return label;
    }

    /** Returns the name of the side's database. */
    public String database() {
        return label.replace('-', '_');
    }
}
