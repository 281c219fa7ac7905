CREATE TABLE Users (Id INTEGER PRIMARY KEY, DisplayName TEXT, Reputation INTEGER, CreationDate TEXT);
CREATE TABLE Posts (Id INTEGER PRIMARY KEY, PostTypeId INTEGER, ParentId INTEGER, OwnerUserId INTEGER, Title TEXT, Body TEXT, Score INTEGER,
  TitleLength INTEGER GENERATED ALWAYS AS (length(Title)) VIRTUAL);
CREATE TABLE Comments (Id INTEGER PRIMARY KEY, PostId INTEGER, UserId INTEGER, Text TEXT, Score INTEGER);
CREATE TABLE Badges (Id INTEGER PRIMARY KEY, UserId INTEGER, Name TEXT, Date TEXT);
CREATE VIRTUAL TABLE PostsIndex USING fts5(Body);
INSERT INTO Users VALUES (11, 'Quill', 310, '2011-01-05'), (12, 'Rue', 4, '2012-06-30'), (13, 'Sorrel', 90, '2013-03-03'), (14, 'Teasel', 1, '2014-01-01');
INSERT INTO Posts (Id, PostTypeId, ParentId, OwnerUserId, Title, Body, Score) VALUES
  (101, 1, NULL, 11, 'How do I seal a leaking kettle?', 'The kettle drips at its spout after I mended it with tin last week.', 7),
  (102, 2, 101, 12, NULL, 'Scrape the old tin off and heat the joint evenly before you add any more.', 9),
  (103, 2, 101, 13, NULL, 'A cork ring holds for a month, which may be long enough for what you need.', 2),
  (104, 1, NULL, 14, 'Which wood is best for a kettle handle?', 'I have ash and beech at hand, and both are dry and without knots.', 3),
  (105, 2, 104, 11, NULL, 'Take the ash, for it bends under the steam and does not split as beech does.', 5);
INSERT INTO Comments VALUES (501, 102, 11, 'That worked, thank you for the quick and clear advice.', 1), (502, 102, 13, 'Mind the fumes when you heat the joint with old tin on it.', 4),
  (503, 105, 14, 'Ash it is then, I will try it on the small kettle first.', 0);
INSERT INTO Badges VALUES (901, 11, 'Teacher', '2012-01-01'), (902, 12, 'Teacher', '2013-01-01'), (903, 11, 'Scholar', '2012-02-01'), (904, 13, 'Scholar', '2014-02-01');
