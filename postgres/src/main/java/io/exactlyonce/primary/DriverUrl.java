package io.exactlyonce.primary;

import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds the settings that the application has chosen for a DataSource of PostgreSQL's driver (for example
 * {@code PGSimpleDataSource}). Reads them from the DataSource's URL. This URL also lists the driver's default values,
 * which must not override the settings of claims.
 */
final class DriverUrl {

    private static final String BASE = "org.postgresql.ds.common.BaseDataSource";

    private DriverUrl() {}

    static boolean isWrittenBy(Class<?> dataSource) {
        for (Class<?> type = dataSource; type != null; type = type.getSuperclass()) {
            if (type.getName().equals(BASE)) {
                return true;
            }
        }
        return false;
    }

    static String withoutSettings(String url) {
        return url.replaceFirst("(?s)[?].*", "");
    }

    /** Returns the settings in the URL whose values differ from the driver's defaults. */
    static Map<String, String> settings(String url) {
        Set<String> listed = Arrays.stream(url.split("[?&]"))
                .skip(1)
                .map(setting -> setting.split("=", 2)[0])
                .collect(Collectors.toSet());
        Map<String, @Nullable String> defaults = values(withoutSettings(url));
        Map<String, String> settings = new HashMap<>();
        values(url).forEach((name, value) -> {
            if (value != null && listed.contains(name) && !value.equals(defaults.get(name))) {
                settings.put(name, value);
            }
        });
        return settings;
    }

    private static Map<String, @Nullable String> values(String url) {
        try {
            Map<String, @Nullable String> values = new HashMap<>();
            for (DriverPropertyInfo property : DriverManager.getDriver(url).getPropertyInfo(url, new Properties())) {
                values.put(property.name, property.value);
            }
            return values;
        } catch (SQLException unknown) {
            throw new IllegalStateException("The driver does not read the URL of its own DataSource", unknown);
        }
    }
}
