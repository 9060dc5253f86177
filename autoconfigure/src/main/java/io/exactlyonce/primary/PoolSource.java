package io.exactlyonce.primary;

/** Who named the database in which claims are kept. */
public enum PoolSource {

    /** The application's connection details, also a service connection's. */
    APPLICATION("the application's connection details", "spring.datasource.url"),
    /** The properties for claims alone. */
    PROPERTIES("exactly-once.datasource", "exactly-once.datasource.url"),
    /** A bean of the application's. */
    MARKED_BEAN("the bean marked @ExactlyOnceDataSource", "the DataSource marked @ExactlyOnceDataSource");

    private final String description;
    private final String setting;

    PoolSource(String description, String setting) {
        this.description = description;
        this.setting = setting;
    }

    /** Returns what leads to the URL that a remedy tells people to change. */
    String urlSetting() {
        return this == MARKED_BEAN ? "the URL of " + setting : setting;
    }

    /** Returns what a remedy tells people to change. */
    String setting() {
        return setting;
    }

    @Override
    public String toString() {
        return description;
    }
}
