package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import com.zaxxer.hikari.HikariDataSource;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Tests the reading of the driver's own DataSources, whose URLs contain the driver's defaults. */
class DataSourceReaderTests {

    @Test
    void settingsOfTheDriversDataSourceAreReadWithoutDefaults() {
        var driver = new PGSimpleDataSource();
        driver.setUrl("jdbc:postgresql://db-1:5433,db-2/shop?sslmode=verify-full&user=me&password=se%26cret");
        driver.setCurrentSchema("a schema, b");

        PoolDetails details = read(driver);

        assertThat(details.url()).isEqualTo("jdbc:postgresql://db-1:5433,db-2:5432/shop");
        assertThat(details.settings())
                .containsOnly(entry("sslmode", "verify-full"), entry("currentSchema", "a schema, b"));
        assertThat(details.credentials().username()).isEqualTo("me");
        assertThat(details.credentials().secret()).isEqualTo("se&cret");
    }

    @Test
    void dataSourceThatHikariMakesIsReadAsHikariMakesIt() {
        var pool = new HikariDataSource();
        pool.setDataSourceClassName(PGSimpleDataSource.class.getName());
        pool.addDataSourceProperty("serverName", "db");
        pool.addDataSourceProperty("databaseName", "shop");
        pool.addDataSourceProperty("user", "wrong");
        pool.addDataSourceProperty("ssl", true);
        pool.setUsername("me");
        pool.setPassword("secret");
        pool.setSchema("orders");

        PoolDetails details = read(pool);

        assertThat(details.url()).isEqualTo("jdbc:postgresql://db/shop");
        assertThat(details.settings()).containsOnly(entry("ssl", "true"));
        assertThat(details.credentials().username()).isEqualTo("me");
        assertThat(details.credentials().secret()).isEqualTo("secret");
        assertThat(details.schema()).isEqualTo("orders");
        assertThat(details.toString()).doesNotContain("secret");
    }

    private static PoolDetails read(DataSource dataSource) {
        return new DataSourceReader(new ApplicationConnection.Named("DataSource", "its URL", dataSource))
                .read(dataSource);
    }
}
