CREATE TABLE actor (actor_id numeric NOT NULL, first_name VARCHAR(45) NOT NULL, last_name VARCHAR(45) NOT NULL, last_update TIMESTAMP NOT NULL, PRIMARY KEY (actor_id));
CREATE TABLE language (language_id SMALLINT NOT NULL, name CHAR(20) NOT NULL, last_update TIMESTAMP NOT NULL, PRIMARY KEY (language_id));
CREATE TABLE category (category_id SMALLINT NOT NULL, name VARCHAR(25) NOT NULL, last_update TIMESTAMP NOT NULL, PRIMARY KEY (category_id));
CREATE TABLE film (film_id int NOT NULL, title VARCHAR(255) NOT NULL, description BLOB SUB_TYPE TEXT DEFAULT NULL, release_year VARCHAR(4) DEFAULT NULL,
  language_id SMALLINT NOT NULL, original_language_id SMALLINT DEFAULT NULL, length SMALLINT DEFAULT NULL, rating VARCHAR(10) DEFAULT 'G',
  special_features VARCHAR(100) DEFAULT NULL, last_update TIMESTAMP NOT NULL, PRIMARY KEY (film_id),
  CONSTRAINT CHECK_special_rating CHECK (rating in ('G', 'PG', 'R')),
  CONSTRAINT fk_film_language FOREIGN KEY (language_id) REFERENCES language (language_id),
  CONSTRAINT fk_film_language_original FOREIGN KEY (original_language_id) REFERENCES language (language_id));
CREATE TABLE film_actor (actor_id INT NOT NULL, film_id INT NOT NULL, last_update TIMESTAMP NOT NULL, PRIMARY KEY (actor_id, film_id),
  CONSTRAINT fk_film_actor_actor FOREIGN KEY (actor_id) REFERENCES actor (actor_id) ON DELETE NO ACTION ON UPDATE CASCADE,
  CONSTRAINT fk_film_actor_film FOREIGN KEY (film_id) REFERENCES film (film_id) ON DELETE NO ACTION ON UPDATE CASCADE);
CREATE TABLE film_category (film_id INT NOT NULL, category_id SMALLINT NOT NULL, last_update TIMESTAMP NOT NULL, PRIMARY KEY (film_id, category_id),
  CONSTRAINT fk_film_category_film FOREIGN KEY (film_id) REFERENCES film (film_id),
  CONSTRAINT fk_film_category_category FOREIGN KEY (category_id) REFERENCES category (category_id));
CREATE TABLE store (store_id INT NOT NULL, manager_staff_id SMALLINT NOT NULL, last_update TIMESTAMP NOT NULL, PRIMARY KEY (store_id),
  CONSTRAINT fk_store_staff FOREIGN KEY (manager_staff_id) REFERENCES staff (staff_id));
CREATE TABLE staff (staff_id SMALLINT NOT NULL, first_name VARCHAR(45) NOT NULL, last_name VARCHAR(45) NOT NULL, store_id INT NOT NULL, last_update TIMESTAMP NOT NULL,
  PRIMARY KEY (staff_id), CONSTRAINT fk_staff_store FOREIGN KEY (store_id) REFERENCES store (store_id));
CREATE TABLE film_text (film_id SMALLINT NOT NULL, title VARCHAR(255) NOT NULL, description BLOB SUB_TYPE TEXT, PRIMARY KEY (film_id));
CREATE TRIGGER actor_trigger_ai AFTER INSERT ON actor BEGIN UPDATE actor SET last_update = DATETIME('NOW') WHERE rowid = new.rowid; END;
CREATE VIEW film_list AS SELECT film.film_id AS FID, film.title AS title, category.name AS category FROM category
  LEFT JOIN film_category ON category.category_id = film_category.category_id LEFT JOIN film ON film_category.film_id = film.film_id;
INSERT INTO actor VALUES (1, 'IDA', 'STONE', '2011-09-14'), (2, 'KAI', 'MOSS', '2011-09-14'), (3, 'LIV', 'REED', '2011-09-14');
INSERT INTO language VALUES (1, 'English', '2011-09-14'), (2, 'Suomi', '2011-09-14');
INSERT INTO category VALUES (1, 'Drama', '2011-09-14'), (2, 'Sea', '2011-09-14');
INSERT INTO film VALUES (1, 'FERRY NIGHT', 'A Quiet Tale of a Captain and a Stranger who must Wait for the Tide', '2006', 1, NULL, 86, 'PG', 'Deleted Scenes,Trailers', '2011-09-14'),
  (2, 'SALT ROAD', 'A Slow Story of two Sisters and a Horse who must Cross the Ice', '2006', 2, 1, 48, 'G', 'Trailers', '2011-09-14');
INSERT INTO film_actor VALUES (1, 1, '2011-09-14'), (2, 1, '2011-09-14'), (3, 2, '2011-09-14');
INSERT INTO film_category VALUES (1, 2, '2011-09-14'), (2, 1, '2011-09-14');
INSERT INTO store VALUES (1, 1, '2011-09-14'), (2, 2, '2011-09-14');
INSERT INTO staff VALUES (1, 'Max', 'Hill', 1, '2011-09-14'), (2, 'Nia', 'Dale', 2, '2011-09-14');
