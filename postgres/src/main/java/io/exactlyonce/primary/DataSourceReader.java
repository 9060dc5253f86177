package io.exactlyonce.primary;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import com.zaxxer.hikari.util.PropertyElf;
import io.exactlyonce.primary.PoolDetails.Login;
import io.exactlyonce.primary.PoolDetails.Password;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.BeanUtils;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.UserCredentialsDataSourceAdapter;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

/**
 * Reads how the application's DataSource connects, for example its URL and password. Looks into proxies, wrappers, and
 * pools that use another DataSource. HikariCP is read through its own classes, and other DataSources through {@link
 * PoolGetters}.
 */
final class DataSourceReader {

    private final ApplicationConnection.Named application;

    DataSourceReader(ApplicationConnection.Named application) {
        this.application = application;
    }

    PoolDetails read(DataSource dataSource) {
        if (isWrapperFor(dataSource, AbstractRoutingDataSource.class)) {
            throw application.unusable("chooses a database for each connection", null);
        }
        if (dataSource instanceof UserCredentialsDataSourceAdapter) {
            throw application.unusable("chooses a user for each connection", null);
        }
        if (dataSource instanceof HikariDataSource pool) {
            return ofHikari(pool);
        }
        DataSource within = within(dataSource);
        if (within != null) {
            return read(within);
        }
        PoolDetails details = PoolGetters.details(dataSource);
        return details == null ? read(unwrapped(dataSource)) : details;
    }

    private PoolDetails ofHikari(HikariDataSource pool) {
        HikariCredentialsProvider provider = pool.getCredentialsProvider();
        Credentials now = ApplicationConnection.ask(
                (provider == null ? "" : PoolDetails.PROVIDER) + application.name(),
                provider == null ? pool::getCredentials : provider::getCredentials);
        Password kind = provider == null ? Password.OWN : Password.PROVIDED;
        Login login = new Login(now.getUsername(), now.getPassword(), kind);
        DataSource below = pool.getDataSourceClassName() == null || pool.getDataSource() != null
                ? pool.getDataSource()
                : instance(pool);
        if (below != null) {
            PoolDetails details = read(below).as(login);
            return new PoolDetails(
                    details.type(),
                    details.url(),
                    details.credentials(),
                    details.driver(),
                    details.settings(),
                    pool.getSchema() == null ? details.schema() : pool.getSchema(),
                    pool.getConnectionInitSql() == null ? details.initSql() : pool.getConnectionInitSql());
        }
        if (pool.getJdbcUrl() == null) {
            throw application.unusable(
                    pool.getDataSourceJNDI() == null
                            ? "has no JDBC URL"
                            : "takes its connections from JNDI (%s)".formatted(pool.getDataSourceJNDI()),
                    null);
        }
        return new PoolDetails(
                "HikariDataSource",
                pool.getJdbcUrl(),
                login,
                pool.getDriverClassName(),
                PoolGetters.texts(pool.getDataSourceProperties()),
                pool.getSchema(),
                pool.getConnectionInitSql());
    }

    private DataSource instance(HikariDataSource pool) {
        String type = pool.getDataSourceClassName();
        try {
            Class<?> named = ClassUtils.forName(type, pool.getClass().getClassLoader());
            DataSource instance = (DataSource) BeanUtils.instantiateClass(named);
            PropertyElf.setTargetFromProperties(instance, pool.getDataSourceProperties());
            return instance;
        } catch (ClassNotFoundException | RuntimeException failure) {
            throw application.unusable("makes no %s (%s)".formatted(type, failure), failure);
        }
    }

    /** Returns the DataSource inside a wrapper or proxy of Spring; {@code null} for another DataSource. */
    private static @Nullable DataSource within(DataSource dataSource) {
        if (dataSource instanceof DelegatingDataSource wrapper) {
            return wrapper.getTargetDataSource();
        }
        return AopProxyUtils.getSingletonTarget(dataSource) instanceof DataSource target ? target : null;
    }

    private DataSource unwrapped(DataSource wrapper) {
        DataSource hikari = DataSourceUnwrapper.unwrap(wrapper, HikariConfigMXBean.class, HikariDataSource.class);
        if (hikari != null) {
            return hikari;
        }
        DataSource wrapped = PoolGetters.wrapped(wrapper);
        if (wrapped != null) {
            return wrapped;
        }
        try {
            DataSource target = isWrapperFor(wrapper, DataSource.class) ? wrapper.unwrap(DataSource.class) : null;
            if (target != null && target != wrapper) {
                return target;
            }
        } catch (SQLException refused) {
            throw unknown(wrapper, refused);
        }
        throw unknown(wrapper, null);
    }

    private ClaimDatabaseException unknown(DataSource dataSource, @Nullable Exception cause) {
        return application.unusable(
                "(%s) has no JDBC URL".formatted(dataSource.getClass().getName()), cause);
    }

    private static boolean isWrapperFor(DataSource dataSource, Class<?> type) {
        try {
            return type.isInstance(dataSource) || dataSource.isWrapperFor(type);
        } catch (SQLException | RuntimeException unsupported) {
            return false;
        }
    }
}
