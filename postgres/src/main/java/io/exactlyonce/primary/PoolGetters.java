package io.exactlyonce.primary;

import io.exactlyonce.primary.PoolDetails.Login;
import io.exactlyonce.primary.PoolDetails.Password;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Reads connection details by reflection. Uses getters that many pools have, and that the driver's own DataSources
 * have.
 */
final class PoolGetters {

    /**
     * Names of getters that return an object with all settings of the pool. Tomcat's pool needs this, because the
     * {@code getPassword} of its DataSource returns a placeholder.
     */
    private static final List<String> POOL_SETTINGS = List.of("getPoolProperties");

    private static final List<String> URL = List.of("getJdbcUrl", "getUrl", "getURL");
    private static final List<String> USER = List.of("getUsername", "getUserName", "getUser");
    private static final List<String> PASSWORD = List.of("getPassword");
    private static final List<String> DRIVER = List.of("getDriverClassName", "getDriverClass");
    private static final List<String> SCHEMA = List.of("getSchema", "getDefaultSchema");
    private static final List<String> INIT_SQL = List.of("getInitSQL", "getConnectionInitSqls");
    private static final List<String> WRAPPED = List.of("getTargetDataSource", "getDataSource", "getDelegate");

    /**
     * Getters of driver settings. The first one that returns a map is used. Tomcat, for example, also has a getter that
     * returns the settings as a text.
     */
    private static final List<String> SETTINGS = List.of(
            "getDbProperties",
            "getConnectionProperties",
            "getConnectProperties",
            "getDriverProperties",
            "getTargetDataSourceProperties",
            "getProperties");

    private PoolGetters() {}

    /** Returns the details of a pool. Returns {@code null} if the pool has no URL. */
    static @Nullable PoolDetails details(DataSource dataSource) {
        Object pool = pool(dataSource);
        String url = text(pool, URL);
        if (url == null) {
            return null;
        }
        Answer password = answer(pool, getter(pool, PASSWORD));
        Login login = new Login(
                text(pool, USER), text(password.value()), password.isGiven() ? Password.OWN : Password.HIDDEN);
        Class<?> type = dataSource.getClass();
        boolean isOfDriver = DriverUrl.isWrittenBy(type);
        return new PoolDetails(
                type.getSimpleName(),
                isOfDriver ? DriverUrl.withoutSettings(url) : url,
                login,
                text(pool, DRIVER),
                isOfDriver ? DriverUrl.settings(url) : settings(pool),
                text(pool, SCHEMA),
                text(pool, INIT_SQL));
    }

    /** Returns the DataSource inside a wrapper. Returns {@code null} if the wrapper has no getter for it. */
    static @Nullable DataSource wrapped(DataSource wrapper) {
        return value(wrapper, WRAPPED) instanceof DataSource target ? target : null;
    }

    static Map<String, String> texts(Map<?, ?> settings) {
        Map<String, String> texts = new HashMap<>();
        settings.forEach((name, value) -> texts.put(String.valueOf(name), String.valueOf(value)));
        return texts;
    }

    private static Object pool(DataSource dataSource) {
        Object settings = value(dataSource, POOL_SETTINGS);
        return settings == null || text(settings, URL) == null ? dataSource : settings;
    }

    private static @Nullable String text(Object pool, List<String> getters) {
        return text(value(pool, getters));
    }

    private static @Nullable String text(@Nullable Object value) {
        return value instanceof Iterable<?> statements ? joined(statements) : value == null ? null : value.toString();
    }

    private static @Nullable String joined(Iterable<?> statements) {
        List<String> all = new ArrayList<>();
        statements.forEach(statement -> all.add(String.valueOf(statement)));
        return all.isEmpty() ? null : String.join("; ", all);
    }

    /**
     * Reads the driver's settings, for example for TLS. Without them, claims would connect less securely than the
     * application does. Some of these getters are not public.
     */
    private static Map<String, String> settings(Object pool) {
        for (String name : SETTINGS) {
            Method getter = ReflectionUtils.findMethod(pool.getClass(), name);
            if (answer(pool, getter).value() instanceof Map<?, ?> settings) {
                return texts(settings);
            }
        }
        return Map.of();
    }

    private static @Nullable Object value(Object pool, List<String> getters) {
        return answer(pool, getter(pool, getters)).value();
    }

    private static @Nullable Method getter(Object pool, List<String> names) {
        return names.stream()
                .map(name -> ClassUtils.getMethodIfAvailable(pool.getClass(), name))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /**
     * Calls a getter. If the getter throws (for example Oracle's getter of the password), its value counts as missing.
     */
    private static Answer answer(Object pool, @Nullable Method getter) {
        try {
            if (getter != null) {
                ReflectionUtils.makeAccessible(getter);
                return new Answer(true, getter.invoke(pool));
            }
        } catch (ReflectiveOperationException unanswered) {
            return Answer.NONE;
        }
        return Answer.NONE;
    }

    private record Answer(boolean isGiven, @Nullable Object value) {

        private static final Answer NONE = new Answer(false, null);
    }
}
