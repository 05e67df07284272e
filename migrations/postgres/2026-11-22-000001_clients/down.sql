DROP TABLE resource_scopes;
DROP TABLE resources;
DROP TABLE client_secrets;
DROP TABLE clients;
