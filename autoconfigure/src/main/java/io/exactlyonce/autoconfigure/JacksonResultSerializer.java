package io.exactlyonce.autoconfigure;

import io.exactlyonce.result.ResultSerializer;
import java.lang.reflect.Type;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

/**
 * Writes and reads results as JSON with the application's mapper. The stored text never chooses a class by name, even
 * if the mapper permits that elsewhere.
 */
final class JacksonResultSerializer implements ResultSerializer {

    private final JsonMapper mapper;

    /**
     * Types that are known to be readable, because the exception for an unreadable type is expensive. An application
     * has only a few result types.
     */
    private final Set<Type> readable = ConcurrentHashMap.newKeySet();

    JacksonResultSerializer(JsonMapper mapper) {
        this.mapper = mapper.rebuild()
                .deactivateDefaultTyping()
                .polymorphicTypeValidator(
                        BasicPolymorphicTypeValidator.builder().build())
                .build();
    }

    @Override
    public String toJson(Object result) {
        return mapper.writeValueAsString(result);
    }

    @Override
    public String toJson(Object result, Type type) {
        return mapper.writerFor(mapper.constructType(type)).writeValueAsString(result);
    }

    @Override
    public @Nullable Object fromJson(String json, Type type) {
        return mapper.readValue(json, mapper.constructType(type));
    }

    /**
     * Returns why results of a type cannot be read; {@code null} if they can. Tries to read an object without fields,
     * which fits few types. But only a type that nothing can be read as fails with an invalid definition.
     */
    @Override
    public @Nullable String whyUnreadable(Type type) {
        if (readable.contains(type)) {
            return null;
        }
        try {
            fromJson("{}", type);
        } catch (InvalidDefinitionException unreadable) {
            return unreadable.getOriginalMessage();
        } catch (JacksonException unfit) {
            // The type can be read from another text.
        }
        readable.add(type);
        return null;
    }
}
