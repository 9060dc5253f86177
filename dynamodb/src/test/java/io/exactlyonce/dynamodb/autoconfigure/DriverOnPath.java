package io.exactlyonce.dynamodb.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.util.Properties;
import java.util.logging.Logger;

/** A class path with a JDBC driver. */
final class DriverOnPath extends URLClassLoader {

    DriverOnPath() {
        super(new URL[] {directory()}, DriverOnPath.class.getClassLoader());
    }

    private static URL directory() {
        try {
            Path directory = Files.createTempDirectory("driver");
            Path services = Files.createDirectories(directory.resolve("META-INF/services"));
            Files.writeString(services.resolve(Driver.class.getName()), NoDatabase.class.getName());
            return directory.toUri().toURL();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** A driver without a database. */
    public static final class NoDatabase implements Driver {

        @Override
        public Connection connect(String url, Properties properties) {
            return null;
        }

        @Override
        public boolean acceptsURL(String url) {
            return false;
        }

        @Override
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
            return new DriverPropertyInfo[0];
        }

        @Override
        public int getMajorVersion() {
            return 1;
        }

        @Override
        public int getMinorVersion() {
            return 0;
        }

        @Override
        public boolean jdbcCompliant() {
            return false;
        }

        @Override
        public Logger getParentLogger() {
            return Logger.getGlobal();
        }
    }
}
