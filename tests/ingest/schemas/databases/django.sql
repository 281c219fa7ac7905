CREATE TABLE "django_migrations" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "app" varchar(255) NOT NULL, "name" varchar(255) NOT NULL, "applied" datetime NOT NULL);
CREATE TABLE "auth_user" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "password" varchar(128) NOT NULL, "username" varchar(150) NOT NULL UNIQUE,
  "first_name" varchar(150) NOT NULL, "last_name" varchar(150) NOT NULL, "is_staff" bool NOT NULL);
CREATE TABLE "library_author" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(100) NOT NULL, "born" date NULL);
CREATE TABLE "library_publisher" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(100) NOT NULL);
CREATE TABLE "library_book" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "title" varchar(200) NOT NULL, "pages" integer unsigned NOT NULL CHECK ("pages" >= 0),
  "publisher_id" bigint NULL REFERENCES "library_publisher" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE "library_book_authors" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "book_id" bigint NOT NULL REFERENCES "library_book" ("id") DEFERRABLE INITIALLY DEFERRED,
  "author_id" bigint NOT NULL REFERENCES "library_author" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE "library_loan" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "due" date NOT NULL,
  "book_id" bigint NOT NULL REFERENCES "library_book" ("id") DEFERRABLE INITIALLY DEFERRED,
  "borrower_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE UNIQUE INDEX "library_book_authors_uniq" ON "library_book_authors" ("book_id", "author_id");
CREATE INDEX "library_book_lower" ON "library_book" (lower("title"));
INSERT INTO "django_migrations" VALUES (1, 'library', '0001_initial', '2023-01-01 10:00:00');
INSERT INTO "auth_user" VALUES (1, 'pbkdf2_sha256$1$x', 'rosa', 'Rosa', 'Vane', 1), (2, 'pbkdf2_sha256$1$y', 'tom', '', '', 0);
INSERT INTO "library_author" VALUES (1, 'Una Marsh', '1931-02-03'), (2, 'Vic Lowe', NULL), (3, 'Wyn Ash', '1970-11-30');
INSERT INTO "library_publisher" VALUES (1, 'Tidal Press');
INSERT INTO "library_book" VALUES (1, 'The Weir', 212, 1), (2, 'Low Water', 98, NULL), (3, 'Nine Bridges', 340, 1);
INSERT INTO "library_book_authors" VALUES (1, 1, 1), (2, 2, 1), (3, 2, 2), (4, 3, 3);
INSERT INTO "library_loan" VALUES (1, '2024-03-01', 1, 2), (2, '2024-03-09', 3, 1), (3, '2024-04-01', 1, 1);
